import { type Link, LINKS } from './codes.ts'
import { counted } from './devices.ts'
import type { Finding } from './facts.ts'

/** How much passes a link: in all, and a second. */
export interface Flow {
  readonly count: number
  readonly perS: number
}

/** One of the seven links of the whole system. */
export interface LinkState extends Partial<Flow> {
  readonly link: Link
  /** `broken`: a finding of it is an error; `idle`: nothing comes; `unknown`: Redis does not answer. */
  readonly state: 'ok' | 'broken' | 'idle' | 'unknown'
  /** The codes of its findings. */
  readonly findings: readonly string[]
}

/** The seven links by what passes them, where that is known, and what is wrong with them. */
export function linkStates(findings: readonly Finding[], flows?: Readonly<Record<Link, Flow>>): LinkState[] {
  const isBlind = findings.some(({ code }) => code === 'redis_down')
  return LINKS.map((link) => {
    const own = findings.filter((finding) => finding.link === link)
    const isBroken = own.some(({ severity }) => severity === 'error')
    const isIdle = flows !== undefined && flows[link].perS <= 0
    const state = isBroken ? 'broken' : isBlind ? 'unknown' : isIdle ? 'idle' : 'ok'
    return { link, state, ...flows?.[link], findings: [...new Set(own.map(({ code }) => code))] }
  })
}

/** The state of everything in one sentence: what is worst, and how much else is wrong. */
export function verdict(findings: readonly Finding[], flows?: Readonly<Record<Link, Flow>>): string {
  const serious = findings.filter(({ severity }) => severity !== 'info')
  const [worst] = serious
  if (!worst) return flows ? `All well: ${flowText(flows)}.` : 'All well.'
  const errors = serious.filter(({ severity }) => severity === 'error').length
  const others = serious.length - 1
  const more = others > 0 ? `; ${counted(others, 'more finding')}` : ''
  if (serious.length === 1 && errors === 0) return `Well, with 1 warning: ${worst.message}.`
  if (errors === 0) return `Well, with ${serious.length} warnings: ${worst.message}${more}.`
  return `${worst.message[0].toUpperCase()}${worst.message.slice(1)}${more}.`
}

function flowText({ connected, accepted }: Readonly<Record<Link, Flow>>): string {
  return `${counted(connected.count, 'device')} connected, ${accepted.perS} positions/s delivered`
}
