import { Kbd, Modal } from "@mantine/core";
import { Grid } from "./Grid";

const KEYS: [string[], string][] = [
  [["j"], "Next table or job of a list"],
  [["k"], "Previous one"],
  [["Enter"], "Open it"],
  [["/", "Ctrl K"], "Search"],
  [["?"], "Show these keys"],
  [["Esc"], "Close a dialog"],
];

/** The keys of the page. */
export function KeyDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys" closeButtonProps={{ "aria-label": "Close" }}>
      <div className="stack-tight">
        <Grid label="Keys of the page" headings={["Key", "Action"]}>
          {KEYS.map(([keys, action]) => (
            <tr key={action}>
              <th scope="row">
                <span className="row">
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </span>
              </th>
              <td>{action}</td>
            </tr>
          ))}
        </Grid>
        <p className="dim">They do nothing while you type in a field.</p>
      </div>
    </Modal>
  );
}
