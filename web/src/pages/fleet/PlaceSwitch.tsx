import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { catalogsQuery, namespacesQuery } from "../../api/fleet";
import type { FleetAddress } from "../../lib/addresses";

interface PlaceSwitchProps {
  address: FleetAddress;
  onChange: (change: FleetAddress) => void;
}

/** The choice of the fleet, a catalog or a namespace for the charts below. */
export function PlaceSwitch({ address, onChange }: PlaceSwitchProps) {
  const catalogs = useQuery(catalogsQuery).data ?? [];
  const namespaces = useQuery(namespacesQuery).data?.items ?? [];
  const single = catalogs.length === 1 ? catalogs[0]?.name : undefined;
  const catalog = address.catalog ?? single;
  const inside = namespaces.filter((one) => one.catalog === catalog);
  return (
    <div className="row">
      {catalogs.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Catalog"
          data={[{ value: "", label: "All catalogs" }, ...catalogs.map(({ name }) => name)]}
          value={address.catalog ?? ""}
          onChange={({ currentTarget: { value } }) =>
            onChange({ catalog: value || undefined, namespace: undefined })
          }
        />
      )}
      {inside.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Namespace"
          data={[
            { value: "", label: "All namespaces" },
            ...inside.map(({ namespace }) => namespace),
          ]}
          value={address.namespace ?? ""}
          onChange={({ currentTarget: { value } }) =>
            onChange(
              value
                ? { catalog, namespace: value }
                : { catalog: address.catalog, namespace: undefined },
            )
          }
        />
      )}
    </div>
  );
}
