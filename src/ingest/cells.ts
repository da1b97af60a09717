import type { Protocol, Transport } from '../../protocols/kit/index.ts'
import { type Cell, metrics } from '../observe/metrics.ts'

/** What the hot path counts of one protocol. */
interface Cells {
  readonly frames: Readonly<Record<Transport, Cell>>
  readonly received: Cell
}

/** The protocol's cells, made when it is first heard of. */
export function cellsOf(protocol: Protocol): Cells {
  let cells = all.get(protocol)
  if (!cells) all.set(protocol, (cells = create(protocol.name)))
  return cells
}

const all = new WeakMap<Protocol, Cells>()

function create(protocol: string): Cells {
  const frames = (transport: Transport) => metrics.frames.cell({ protocol, transport })
  return {
    frames: { tcp: frames('tcp'), udp: frames('udp'), http: frames('http'), mqtt: frames('mqtt') },
    received: metrics.received.cell({ protocol }),
  }
}
