import { connect, type Socket } from 'node:net'
import { getPriority, setPriority } from 'node:os'
import { login, packetOf, stamp } from '../e2e/codec8.ts'

/**
 * Vans with a connection each that send a fix once in a while, in a process of their own: started with the plan as JSON. A van
 * whose connection ends connects again within some seconds, and sends again what was not answered. Once a second it says how it is.
 */
interface SenderPlan {
  readonly port: number
  /** The numbers of its vans. */
  readonly first: number
  readonly vans: number
  readonly everyMs: number
  /** Within which all connect for the first time. */
  readonly loginMs: number
}

/** `answersMs`: how long each answer took that came since the last report; `oldestMs`: for how long a van waits for one. */
export interface SenderReport {
  readonly type: 'report'
  readonly loggedIn: number
  readonly answersMs: readonly number[]
  readonly oldestMs: number
}

class ConnectedVan {
  readonly #index: number
  #socket: Socket | undefined
  #isLoggedIn = false
  /** When the fix was sent that is not answered; 0: there is none. */
  sentAt = 0
  #timestamp = 0

  constructor(index: number) {
    this.#index = index
  }

  get isLoggedIn(): boolean {
    return this.#isLoggedIn
  }

  connect(): void {
    const socket = connect({ port: plan.port, host: '127.0.0.1', localAddress: addressOf(this.#index), noDelay: true })
    this.#socket = socket
    socket.on('connect', () => socket.write(login(this.#index)))
    socket.on('data', (answer: Buffer) => this.#hear(answer))
    socket.on('error', () => {})
    socket.on('close', () => this.#lost())
  }

  /** Sends a fix, unless the one before is not answered. */
  send(): void {
    if (!this.#isLoggedIn || this.sentAt > 0) return
    if (this.#timestamp === 0) this.#timestamp = Math.floor(Date.now() / 1000)
    this.sentAt = performance.now()
    const packet = packetOf(1, this.#index)
    stamp(packet, this.#timestamp)
    this.#socket?.write(packet)
  }

  #hear(answer: Buffer): void {
    if (!this.#isLoggedIn && answer[0] === 1) this.#isLoggedIn = true
    else if (answer.length === 4) {
      answersMs.push(performance.now() - this.sentAt)
      this.sentAt = 0
      this.#timestamp = 0
    }
  }

  #lost(): void {
    this.#isLoggedIn = false
    this.sentAt = 0
    setTimeout(() => this.connect(), 1000 + Math.random() * 4000)
  }
}

// Vans take no CPU time of their gateway's machine.
setPriority(Math.min(19, getPriority() + 5))
const plan = JSON.parse(process.argv[2]) as SenderPlan
let answersMs: number[] = []
const vans = Array.from({ length: plan.vans }, (_, at) => new ConnectedVan(plan.first + at))
process.on('disconnect', () => process.exit())
setInterval(report, 1000)
let connected = 0
paced(plan.loginMs, (count) => {
  for (; connected < Math.min(count, plan.vans); connected++) vans[connected].connect()
})
let sent = 0
paced(plan.everyMs, (count) => {
  for (; sent < count; sent++) vans[sent % plan.vans].send()
})

/** Calls `act` with how many of all vans have had their turn by now, where all have it within `withinMs`. */
function paced(withinMs: number, act: (count: number) => void): void {
  const began = performance.now()
  setInterval(() => act(Math.ceil(((performance.now() - began) / withinMs) * plan.vans)), 20)
}

/** Not more from one address than one gateway admits, and some networks. */
function addressOf(index: number): string {
  const which = Math.floor(index / VANS_OF_ADDRESS)
  return `127.${1 + Math.floor(which / 200)}.${which % 200}.1`
}

function report(): void {
  const now = performance.now()
  const oldestMs = vans.reduce((most, { sentAt }) => (sentAt > 0 ? Math.max(most, now - sentAt) : most), 0)
  const loggedIn = vans.filter(({ isLoggedIn }) => isLoggedIn).length
  process.send?.({ type: 'report', loggedIn, answersMs, oldestMs } satisfies SenderReport)
  answersMs = []
}

const VANS_OF_ADDRESS = 2000
