// Read a trace of `burntrace run --profile` with a reader that is not ours:
//   npm install @tracerbench/trace-model@8 && node profile.mjs trace.json
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { buildModel } = createRequire(`${process.cwd()}/`)("@tracerbench/trace-model");
const model = buildModel(JSON.parse(readFileSync(process.argv[2])).traceEvents);
const threads = model.processes.flatMap((process) => process.threads);
for (const thread of threads) {
    console.log(`${thread.process.name}: ${thread.name}, ${thread.events.length} events`);
}
const names = threads.map((thread) => thread.name);
if (!names.includes("main") || !names.includes("burntrace-tracks")) {
    throw new Error(`threads are missing: ${names}`);
}
