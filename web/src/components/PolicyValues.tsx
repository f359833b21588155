import type { PolicyValue } from "../api/types";

/** Values of a policy, each with the file and line that it comes from. */
export function PolicyValues({ values, caption }: { values: PolicyValue[]; caption: string }) {
  if (values.length === 0) return <p className="dim">No values are set.</p>;
  return (
    <table className="grid grid-cards grid-values">
      <caption className="hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
          <th scope="col">Source</th>
        </tr>
      </thead>
      <tbody>
        {values.map((value) => (
          <tr key={value.path}>
            <th scope="row" className="mono cell-wide">
              {value.path}
            </th>
            <td className="mono cell-wide">{value.value}</td>
            <td className="mono dim cell-wide">{value.source}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
