import { LINKS, type Link } from '../diagnose/codes.ts'

/** Counts what passed each link in the last hour, by minute, since this process started. */
export class FlowHour {
  readonly #read: () => Readonly<Record<Link, number>>
  #minutes: Minute[] = []

  /** @param read how much passes each link now, a second; asked at each look */
  constructor(read: () => Readonly<Record<Link, number>>) {
    this.#read = read
  }

  /** The mean rates of the last 60 minutes of a link, the oldest first, the present one last. */
  of(link: Link): number[] {
    return this.#minutes.map(({ sums, seconds }) => Math.round((sums[link] / seconds) * 10) / 10)
  }

  /** Call it once a second. */
  look(): void {
    const [rates, minute] = [this.#read(), Math.floor(Date.now() / MINUTE_MS)]
    const last = this.#minutes.at(-1)
    if (last?.minute !== minute) {
      this.#minutes = [...this.#minutes.slice(1 - MINUTES), { minute, seconds: 1, sums: { ...rates } }]
      return
    }
    last.seconds++
    for (const link of LINKS) last.sums[link] += rates[link]
  }
}

interface Minute {
  readonly minute: number
  readonly sums: Record<Link, number>
  seconds: number
}

const MINUTE_MS = 60_000
const MINUTES = 60
