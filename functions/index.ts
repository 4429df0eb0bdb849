import { app } from "@azure/functions";
import { gate } from "./gate";

app.storageQueue("run", gate.run); // a hint wakes a worker: it takes tokens, claims tasks, runs them, ends
app.timer("sweep", gate.sweep); // finds what a lost hint or a dead worker left behind
app.storageQueue("ingest", gate.ingest); // events become tasks
gate.api(app); // HTTP API and dashboard
gate.hooks(app); // traces, and a clean end
