import { expect, test } from "vitest";
import { Metrics } from "./metrics.ts";
import { toPrometheus } from "./prometheus.ts";

function linesAbout(metrics: Metrics, name: string): readonly string[] {
  const text = toPrometheus((metric) => metrics.samples(metric));
  return text.split("\n").filter((line) => line.startsWith(name));
}

test("a counter has a line for every set of labels, with what could end the line escaped", () => {
  const metrics = new Metrics();
  metrics.add("requests", { method: "GET", route: '/a"\\b\n', status: "200" });
  metrics.add("requests", { method: "GET", route: '/a"\\b\n', status: "200" }, 2);
  metrics.add("requests", { method: "GET", route: "/c", status: "404" });
  expect(linesAbout(metrics, "countersign_http_requests_total")).toEqual([
    'countersign_http_requests_total{method="GET",route="/a\\"\\\\b\\n",status="200"} 3',
    'countersign_http_requests_total{method="GET",route="/c",status="404"} 1',
  ]);
});

test("a gauge goes up and down", () => {
  const metrics = new Metrics();
  metrics.add("openStreams", { route: "/s" });
  metrics.add("openStreams", { route: "/s" });
  metrics.add("openStreams", { route: "/s" }, -1);
  expect(linesAbout(metrics, "countersign_http_open_streams")).toEqual([
    'countersign_http_open_streams{route="/s"} 1',
  ]);
});

test("a histogram's buckets count everything up to their bound, and the last one everything", () => {
  const metrics = new Metrics();
  for (const seconds of [0.001, 0.005, 0.3, 99]) {
    metrics.observe("requestSeconds", { method: "GET", route: "/" }, seconds);
  }
  const lines = linesAbout(metrics, "countersign_http_request_duration_seconds");
  const of = (bound: string): string | undefined =>
    lines
      .find((line) => line.includes(`le="${bound}"`))
      ?.split(" ")
      .at(-1);
  expect([of("0.005"), of("0.25"), of("0.5"), of("30"), of("+Inf")]).toEqual(["2", "2", "3", "3", "4"]);
  expect(lines.slice(-2)).toEqual([
    'countersign_http_request_duration_seconds_sum{method="GET",route="/"} 99.306',
    'countersign_http_request_duration_seconds_count{method="GET",route="/"} 4',
  ]);
});

test("a metric with more label values than anybody can want stops at a bound", () => {
  const metrics = new Metrics();
  for (let i = 0; i < 1_500; i++) metrics.add("openStreams", { route: `/${i}` });
  metrics.add("openStreams", { route: "/0" });
  expect(metrics.samples("openStreams")).toHaveLength(1_000);
  expect(metrics.samples("openStreams")[0]).toEqual({ labels: { route: "/0" }, value: 2 });
});
