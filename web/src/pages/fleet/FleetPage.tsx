import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { overviewQuery } from "../../api/fleet";
import { Loaded } from "../../components/notices";
import { WhenSeen } from "../../components/WhenSeen";
import { PauseNotice } from "../../components/Pauses";
import type { FleetAddress } from "../../lib/addresses";
import { Budgets } from "./Budgets";
import { CatalogList } from "./CatalogList";
import { DailyWork } from "./DailyWork";
import { DayLine } from "./DayLine";
import { FleetTrend } from "./FleetTrend";
import { Outlook } from "./Outlook";
import { PlaceSwitch } from "./PlaceSwitch";
import { OverviewTiles } from "./OverviewTiles";
import { Ranking } from "./Ranking";
import { Replicas } from "./Replicas";

const route = getRouteApi("/");
const TILES_HEIGHT = 110;
const CHARTS_HEIGHT = 500;

/** What is wrong, what is being done, what was done; then figures and charts. */
export function FleetPage() {
  useDocumentTitle("Fleet – iceberg-maintainer");
  const overview = useQuery(overviewQuery);
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: FleetAddress) =>
    void navigate({
      search: (present: FleetAddress) => ({ ...present, ...changed }),
      replace: true,
      resetScroll: false,
    });
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Fleet</h1>
        <PlaceSwitch address={address} onChange={change} />
      </div>
      <PauseNotice />
      <div className="columns columns-top">
        <Ranking />
        <div className="stack">
          <DayLine />
          <Outlook />
        </div>
      </div>
      <Loaded query={overview} label="the overview" height={TILES_HEIGHT}>
        {(data) => <OverviewTiles overview={data} />}
      </Loaded>
      <WhenSeen height={CHARTS_HEIGHT}>
        <div className="columns">
          <div className="stack">
            <FleetTrend address={address} onChange={change} />
            <Budgets />
          </div>
          <DailyWork catalog={address.catalog} namespace={address.namespace} />
        </div>
        <CatalogList />
        <Replicas />
      </WhenSeen>
    </div>
  );
}
