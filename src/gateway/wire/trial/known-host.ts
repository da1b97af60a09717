import type { SocketOptions } from 'node:dgram'
import { type LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * The addresses of a host, for sockets. At most one lookup runs at a time; until it ends, or if it fails, the earlier
 * addresses are used. A name server that hangs would otherwise hold up each connection, and Node's threads with it.
 */
export class KnownHost {
  readonly #ask: () => Promise<LookupAddress[]>
  #known: LookupAddress[] | undefined
  #askedAt = -Infinity
  #asking: Promise<LookupAddress[]> | undefined

  /** `ask`: how the addresses are found out. */
  constructor(host: string, ask = () => promises.lookup(host, { all: true })) {
    this.#ask = ask
  }

  /** The option `lookup` of a socket for datagrams, which gives the family alone. */
  readonly lookupOne: NonNullable<SocketOptions['lookup']> = (host, options, answered) => {
    const { family } = typeof options === 'number' ? { family: options } : options
    this.lookup(host, { family }, (error, address, of = 0) => answered(error, address as string, of))
  }

  /** The option `lookup` of any other socket. */
  readonly lookup: LookupFunction = (host, { all = false, family = 0 }, answered) => {
    const give = (addresses: readonly LookupAddress[]) => {
      const fitting = addresses.filter((each) => family === 0 || String(family).endsWith(String(each.family)))
      const [first] = fitting
      if (!first) answered(Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' }), '')
      else if (all) answered(null, fitting)
      else answered(null, first.address, first.family)
    }
    void this.#addresses().then(give, (error: NodeJS.ErrnoException) => answered(error, ''))
  }

  async #addresses(): Promise<LookupAddress[]> {
    const isOld = performance.now() - this.#askedAt > FRESH_MS
    if (this.#known && !isOld) return this.#known
    this.#asking ??= this.#askNow()
    if (!this.#known) return this.#asking
    this.#asking.catch(() => {})
    return this.#known
  }

  async #askNow(): Promise<LookupAddress[]> {
    try {
      this.#known = await this.#ask()
      return this.#known
    } finally {
      this.#askedAt = performance.now()
      this.#asking = undefined
    }
  }
}

const FRESH_MS = 10_000
