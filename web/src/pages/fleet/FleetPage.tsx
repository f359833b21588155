import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { overviewQuery } from "../../api/fleet";
import { Loaded } from "../../components/notices";
import type { FleetAddress } from "../../lib/addresses";
import { CatalogList } from "./CatalogList";
import { FleetTrend } from "./FleetTrend";
import { NeedsYou } from "./NeedsYou";
import { Outlook } from "./Outlook";
import { OverviewTiles } from "./OverviewTiles";

const route = getRouteApi("/");
const TILES_HEIGHT = 110;

/** All tables at a glance: are we all right, and what happens next? */
export function FleetPage() {
  useDocumentTitle("Fleet – iceberg-maintainer");
  const overview = useQuery(overviewQuery);
  const navigate = route.useNavigate();
  const change = (changed: FleetAddress) =>
    void navigate({
      search: (present: FleetAddress) => ({ ...present, ...changed }),
      replace: true,
      resetScroll: false,
    });
  return (
    <div className="stack">
      <h1>Fleet</h1>
      <NeedsYou />
      <Loaded query={overview} label="the overview" height={TILES_HEIGHT}>
        {(data) => <OverviewTiles overview={data} />}
      </Loaded>
      <FleetTrend address={route.useSearch()} onChange={change} />
      <Outlook />
      <CatalogList />
    </div>
  );
}
