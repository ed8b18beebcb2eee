// Calls of a client whose types openapi-typescript generates; compiled by tsc, which checks them, and run by Node.
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

declare const process: { argv: string[] };
const [address, token, word] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: `${address}/api`,
  headers: { Authorization: `Token ${token}`, Accept: "application/json; version=1.6" },
});
let calls = 0;

function must<Data>(answer: { data?: Data; error?: unknown; response: Response }, status = 200): Data {
  calls += 1;
  if (answer.response.status !== status) throw new Error(`${answer.response.url}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data as Data;
}

type Site = components["schemas"]["Site"];
const made = must(await client.POST("/dcim/sites/", { body: { name: word, status: "active" } }), 201) as Site;
const params = { path: { id: made.id } };
const read = must(await client.GET("/dcim/sites/{id}/", { params })) as Site;
const put = must(await client.PUT("/dcim/sites/{id}/", { params, body: { ...read, facility: "F1" } as components["schemas"]["SiteRequest"] })) as Site;
if (put.facility !== "F1" || put.status?.value !== "active") throw new Error(JSON.stringify(put));
const planned = must(await client.PATCH("/dcim/sites/{id}/", { params, body: { status: { value: "planned", label: "Planned" } } })) as Site;
if (planned.status?.label !== "Planned") throw new Error(JSON.stringify(planned));
type Page = components["schemas"]["PaginatedSiteList"]; // export templates have other media types, any of which may be asked for
const found = must(await client.GET("/dcim/sites/", { params: { query: { name: [word], limit: 5 } } })) as Page;
if (found.count !== 1) throw new Error(JSON.stringify(found));
must(await client.GET("/dcim/devices/", { params: { query: { limit: 2 } } }));
must(await client.GET("/ipam/prefixes/", { params: { query: { limit: 2 } } }));
must(await client.GET("/extras/tags/", { params: { query: { limit: 2 } } }));
must(await client.DELETE("/dcim/sites/{id}/", { params }), 204);
must(await client.GET("/dcim/sites/{id}/", { params }), 404);
console.log(calls);
