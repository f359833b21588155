// Writes src/api/schema.ts from docs/openapi.json; with --check it only says whether the committed file is what it would write.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import * as prettier from "prettier";

const document = new URL("../../docs/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.ts", import.meta.url);
const banner = "// Generated from docs/openapi.json by `npm run types`; do not edit.\n\n";

// A value with a default is always there in an answer and need not be there in a request; only requests have such values here.
const syntax = await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true });
const options = await prettier.resolveConfig(target);
const wanted = await prettier.format(banner + astToString(syntax), {
    ...options,
    parser: "typescript",
});

if (process.argv.includes("--check")) {
    const committed = await readFile(target, "utf8").catch(() => "");
    if (committed !== wanted) {
        console.error(
            "web/src/api/schema.ts is not what docs/openapi.json says; run `npm run types` and commit it",
        );
        process.exit(1);
    }
} else {
    await writeFile(target, wanted);
}
