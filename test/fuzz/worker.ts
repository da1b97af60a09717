import { parentPort, workerData } from 'node:worker_threads'
import { loadProtocols } from '../../protocols/index.ts'
import { fuzz } from './run.ts'
import { Watch } from './watch.ts'

export interface WorkerTask {
  readonly seed: number
  readonly frames: number
  /** The protocols that are damaged; none: all. */
  readonly names: readonly string[]
  /** Of a `Watch`. */
  readonly memory: SharedArrayBuffer
}

/** One thread of `npm run fuzz`. */
const { seed, frames, names, memory } = workerData as WorkerTask
const all = await loadProtocols()
const protocols = names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
parentPort?.postMessage(await fuzz({ seed, frames, protocols, watchesMemory: true, watch: new Watch(memory) }, all))
