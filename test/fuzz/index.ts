import { enableCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { protocolPorts } from '../../protocols/index.ts'
import { commandOptions } from '../support/command-options.ts'
import type { FuzzFigures } from './run.ts'
import { Watch } from './watch.ts'
import type { WorkerTask } from './worker.ts'

/**
 * `npm run fuzz`: damaged frames for all framers, all decoders and the port of all protocols. `--frames N`, `--seed N`,
 * `--threads N`, `--only NAME,…`. The same seed, number of frames and threads send the same. Exit 0: nothing is wrong.
 */
enableCompileCache()
const values = commandOptions({
  frames: { type: 'string', default: '10000000' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  only: { type: 'string', default: '' },
})
/** Until a frame that is still being heard is called endless. */
const HANGING_MS = 20_000
const [frames, seed, threads] = [Number(values.frames), Number(values.seed), Number(values.threads)]
const names = values.only.split(',').filter((name) => name !== '')
const begun = performance.now()
const parts = await Promise.all(Array.from({ length: threads }, (_, thread) => runThread(thread)))
const faults = parts.flatMap((part) => part.faults)
for (const { protocol, what, frame, earlier } of faults)
  console.log(`${protocol}, seed ${seed}, after ${earlier} frames of its connection: ${what}\n  ${frame}`)
const seconds = (performance.now() - begun) / 1000
const sum = (count: (part: FuzzFigures) => number) => parts.reduce((total, part) => total + count(part), 0)
const figures = {
  seed,
  frames: sum((part) => part.frames),
  messages: sum((part) => part.messages),
  refused: sum((part) => part.refused),
  frames_per_s: Math.round(sum((part) => part.frames) / seconds),
  problems: faults.length,
}
console.log(
  Object.entries(figures)
    .map(([name, value]) => `${name}=${value}`)
    .join(' '),
)
process.exitCode = faults.length === 0 ? 0 : 1

/** The figures of one thread, which has a seed of its own. It is ended where a frame takes longer than any should. */
function runThread(thread: number): Promise<FuzzFigures> {
  const watch = new Watch()
  const task: WorkerTask = {
    seed: seed + thread * 7919,
    frames: Math.ceil(frames / threads),
    names,
    memory: watch.memory,
  }
  const worker = new Worker(fileURLToPath(new URL('worker.ts', import.meta.url)), { workerData: task })
  return new Promise((resolve, reject) => {
    let count = -1
    const timer = setInterval(() => {
      if (count === watch.count && count > 0) {
        void worker.terminate()
        resolve(hanging(watch))
      }
      count = watch.count
    }, HANGING_MS)
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => clearInterval(timer))
  })
}

function hanging({ count, last }: Watch): FuzzFigures {
  const protocol = protocolPorts[last.protocol].name
  const what = `it takes longer than ${HANGING_MS / 1000} s`
  const fault = { protocol, what, frame: last.frame.toString('hex'), earlier: 0 }
  return { frames: count, messages: 0, refused: 0, faults: [fault] }
}
