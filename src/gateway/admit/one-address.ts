import { observations } from '../../observe/observations.ts'
import { say } from '../../texts/text.ts'

/** Observes that all connections of a listener come from one address, which is usually a load balancer's. */
export class OneAddressDetector {
  readonly #open = new Map<string, number>()
  readonly #looking: NodeJS.Timeout

  constructor(listener: string) {
    this.#looking = setInterval(() => this.#look(listener), LOOK_MS).unref()
  }

  opened(address: string): void {
    this.#open.set(address, (this.#open.get(address) ?? 0) + 1)
  }

  closed(address: string): void {
    const left = (this.#open.get(address) ?? 0) - 1
    if (left > 0) this.#open.set(address, left)
    else this.#open.delete(address)
  }

  close(): void {
    clearInterval(this.#looking)
  }

  #look(listener: string): void {
    const [[address, count] = ['', 0]] = this.#open
    if (this.#open.size !== 1 || count <= MANY) return
    observations.note('one_address', { subject: { listener }, evidence: say('{} connections from {}', count, address) })
  }
}

/** Fewer connections may be one person's experiments. */
const MANY = 50
const LOOK_MS = 10_000
