import { parentPort, workerData } from 'node:worker_threads'
import { loadProtocols } from '../../protocols/index.ts'
import { fuzz } from './run.ts'

/** One thread of `npm run fuzz`. */
const { seed, frames, names } = workerData as { seed: number; frames: number; names: readonly string[] }
const all = await loadProtocols()
const protocols = names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
parentPort?.postMessage(await fuzz({ seed, frames, protocols, watchesMemory: true }, all))
