"""A configuration with a secret in each place that can hold one."""

from __future__ import annotations

from typing import Final

SECRET: Final = "hush-hush-0123456789-0123456789-0123456789"  # noqa: S105 - must not be seen
SECRETIVE_SETTINGS: Final = f"""\
catalogs:
  lake:
    type: sql
    uri: postgresql+psycopg://user:{SECRET}@host/db?sslpassword={SECRET}&a=b
    credential: id:{SECRET}
    token: {SECRET}
    s3.secret-access-key: {SECRET}
    header.Authorization: {SECRET}
    spark: {{jdbc.password: {SECRET}}}
  ice: {{type: rest, uri: 'https://user:{SECRET}@catalog.test/'}}
  sea: {{type: rest, uri: 'https://{SECRET}@catalog.test/'}}
store: postgresql://user:{SECRET}@host/db
spark:
  conf:
    spark.hadoop.fs.s3a.secret.key: {SECRET}
    spark.driver.extraJavaOptions: -DtrustPassword={SECRET} -Da=b
tracing:
  endpoint: http://collector.test:4318/v1/traces
  headers: {{Authorization: Bearer {SECRET}, X-Plain: {SECRET}}}
lineage: {{url: 'http://lineage.test', api_key: {SECRET}}}
webhooks:
  refresh: {{url: 'https://hooks.test/{SECRET}', headers: {{X-Plain: {SECRET}}}}}
notifications: {{targets: {{ops: 'json://user:{SECRET}@hooks.test/'}}}}
polaris_policies: {{catalog: ice, credential: 'root:{SECRET}', token: {SECRET}}}
auth:
  tokens: {{ci: {SECRET}, cd: {{token: {SECRET}-2, role: viewer}}}}
  oidc: {{issuer: 'https://id.test', client_id: page, client_secret: {SECRET}}}
  session_key: {SECRET}
"""
