/** The client of storage queues, in a file of its own: its packages take 90 ms to load, and are loaded at the first message. */
export { QueueServiceClient } from "@azure/storage-queue";
