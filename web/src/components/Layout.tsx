import { SegmentedControl, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { overviewQuery } from "../api/fleet";
import { prefix } from "../lib/prefix";
import { sessionQuery, useSession } from "../api/session";
import { ConnectionNotice, UpgradeNotice } from "./ConnectionNotice";
import { KeyButton } from "./KeyButton";
import { PageNav } from "./PageNav";
import { SearchButton } from "./SearchButton";
import { StatusBar } from "./StatusBar";
import { Account, NoRole, SignIn } from "./SignIn";

const SCHEMES: { value: MantineColorScheme; label: string }[] = [
  { value: "auto", label: "Auto" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      aria-label="Colours"
      data={SCHEMES}
      value={colorScheme}
      onChange={(value) => setColorScheme(value)}
    />
  );
}

function Version() {
  const { data } = useQuery(overviewQuery);
  return data ? <>Version {data.version}</> : null;
}

/** True when the daemon answers the person; also while it does not answer at all. */
function useIsIn(): boolean {
  const session = useSession();
  return !session?.is_needed || (session.name !== null && session.grants.length > 0);
}

/** The page, or what stands in its place until somebody with a role is signed in. */
function Content() {
  const { data: session, isPending } = useQuery(sessionQuery);
  const isIn = useIsIn();
  if (isPending) return null;
  if (session && !isIn)
    return session.name === null ? <SignIn session={session} /> : <NoRole name={session.name} />;
  return (
    <>
      <UpgradeNotice />
      <StatusBar />
      <Outlet />
    </>
  );
}

/** The frame of every page. */
export function Layout() {
  const isIn = useIsIn();
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <header className="header">
        <div className="frame header-inner">
          <Link to="/" className="brand" aria-label="iceberg-maintainer: the fleet">
            <img src="/icon.svg" alt="" width={24} height={24} />
            <span className="brand-name">iceberg-maintainer</span>
          </Link>
          {isIn && <PageNav />}
          <div className="header-end">
            {isIn && <SearchButton />}
            <Account />
          </div>
        </div>
      </header>
      <main id="content" className={isIn ? "frame beside-nav" : "frame"} tabIndex={-1}>
        <div className="stack">
          <ConnectionNotice />
          <Content />
        </div>
      </main>
      <footer className={`footer frame row row-apart${isIn ? " beside-nav" : ""}`}>
        <span>{isIn && <Version />}</span>
        <SchemeSwitch />
        <span className="row">
          {isIn && <KeyButton />}
          <a href={`${prefix}/docs`}>API</a>
        </span>
      </footer>
    </>
  );
}
