import { describe, expect, it } from 'vitest'
import type { StoppedTraffic, TrafficVan, Trait } from '../../src/diagnose/device-facts.ts'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import { TrafficWatch } from '../../src/diagnose/traffic-watch.ts'
import { inLanguage } from '../../src/texts/language.ts'
import { inEnglish } from '../support/texts.ts'

const S = 1000
const START = Date.UTC(2026, 10, 20, 8)

/** A van that sends every `everyS` seconds, until `untilS` seconds after the start. */
interface Sender {
  readonly id: string
  readonly everyS?: number
  readonly isAligned?: boolean
  readonly untilS?: number
  /** When the van is heard again. */
  readonly fromS?: number
  readonly traits?: readonly Trait[]
  readonly company?: string
  /** When the van was parked. */
  readonly parkedS?: number
  readonly hasStood?: boolean
  /** Seconds by which the clock of its gateway is slow. */
  readonly behindS?: number
}

function fleet(count: number, sender: (index: number) => Partial<Sender> = () => ({})): Sender[] {
  return Array.from({ length: count }, (_, index) => ({ id: `${index}`, ...sender(index) }))
}

/** Returns what was heard of a van at a time; vans send at different seconds unless they are aligned. */
function seen(sender: Sender, nowS: number): TrafficVan[] {
  const { id, everyS = 10, untilS = Infinity, fromS = Infinity, isAligned = false } = sender
  const { behindS = 0, company = '7', hasStood = false, parkedS = Infinity, traits = [] } = sender
  if (nowS >= parkedS) return []
  const offset = isAligned ? 0 : Number(id) % everyS
  const last = (s: number) => Math.floor((s - offset) / everyS) * everyS + offset
  const heardS = (nowS >= fromS ? last(nowS) : last(Math.min(nowS, untilS - 1))) - behindS
  const gateway = `behind by ${behindS} s`
  return [{ id, company, heardAt: START + heardS * S, usualMs: everyS * S, hasStood, gateway, traits: () => traits }]
}

/** Returns the silences found at each second. */
function watch(senders: readonly Sender[], untilS: number, isExplained: (nowS: number) => boolean = () => false) {
  const traffic = new TrafficWatch(START - 3600 * S)
  return Array.from({ length: untilS }, (_, nowS) => {
    const now = START + nowS * S
    traffic.look(
      senders.flatMap((each) => seen(each, nowS)),
      { now, isExplained: isExplained(nowS) },
    )
    return traffic.stops()
  })
}

/** Returns the second at which a silence is first found, or -1. */
function saidAfter(said: readonly (readonly StoppedTraffic[])[]): number {
  return said.findIndex((stops) => stops.length > 0)
}

function findings(traffic: readonly StoppedTraffic[]) {
  return inEnglish(diagnose({ now: START + 200 * S, observations: [], traffic }))
}

const trait = (kind: Trait['kind'], value: string): Trait => ({ kind, value })
const port = (value: string) => trait('port', value)

/** Returns the silences found at each second for vans that stood when they fell silent. */
function watchStood(count: number) {
  return watch(
    fleet(count, () => ({ untilS: 100, hasStood: true })),
    300,
  )
}

/** Returns a van that falls silent; the first eleven are heard again. */
function cutOff(index: number): Partial<Sender> {
  return { untilS: 100, fromS: index < 11 ? 400 : Infinity, traits: [port('1')] }
}

it('the silence of all vans of a fleet but one is a finding within 60 s, with the number and the seconds', () => {
  const said = watch(
    fleet(204, (index) => (index === 203 ? {} : { untilS: 100 })),
    200,
  )
  expect(saidAfter(said)).toBeGreaterThan(120)
  expect(saidAfter(said)).toBeLessThanOrEqual(160)
  const [finding, ...others] = findings(said[199])
  expect(others).toEqual([])
  expect(finding).toMatchObject({
    code: 'traffic_stopped',
    severity: 'error',
    count: 203,
    message: '203 of 204 vans fell silent within 9 s',
    action: expect.stringContaining('port forwarding'),
    evidence: expect.arrayContaining(['203 vans are silent still', '0, 1, 2, 3, 4 and 198 more']),
  })
})

it.each([5, 20, 30, 40])('the silence of many vans that send every %i s is a finding within 60 s', (everyS) => {
  expect(
    saidAfter(
      watch(
        fleet(8, () => ({ everyS, untilS: 200 })),
        300,
      ),
    ) - 200,
  ).toBeLessThanOrEqual(60)
})

it('the silence of many vans that send once a minute is a finding within 60 s', () => {
  expect(
    saidAfter(
      watch(
        fleet(60, () => ({ everyS: 60, untilS: 200 })),
        300,
      ),
    ) - 200,
  ).toBeLessThanOrEqual(60)
})

it.each<[string, Trait, Trait]>([
  ['at port 5027 (tcp)', port('5027 (tcp)'), port('5023 (tcp)')],
  ['that speak gt06 (tcp)', trait('protocol', 'gt06 (tcp)'), trait('protocol', 'h02 (tcp)')],
  ['at the gateway 1 on a', trait('gateway', '1 on a'), trait('gateway', '2 on b')],
  ['of company 7', trait('company', '7'), trait('company', '8')],
  ['of the model FMB920', trait('model', 'FMB920'), trait('model', 'GV55')],
  ['from the network 10.1.0.0/16', trait('network', '10.1.0.0/16'), trait('network', '10.2.0.0/16')],
])('vans that fall silent together share what the others do not have: %s', (words, own, foreign) => {
  const common = trait('model', 'all have it')
  const said = watch(
    fleet(40, (index) => ({
      untilS: index % 4 === 0 ? 100 : Infinity,
      company: index % 4 === 0 ? '7' : '8',
      traits: [common, index % 4 === 0 ? own : foreign],
    })),
    200,
  )
  expect(findings(said[199])).toMatchObject([
    {
      subject: own.kind === 'gateway' ? {} : { company_id: '7' },
      count: 10,
      message: `10 of 10 vans ${words} fell silent within 8 s`,
    },
  ])
})

it('vans that fall silent together are compared with their company, and everything they alone share is named', () => {
  const said = watch(
    fleet(40, (index) => ({
      untilS: index % 4 === 0 ? 100 : Infinity,
      traits: index % 4 === 0 ? [port('1'), trait('protocol', 'gt06')] : [port('2')],
    })),
    200,
  )
  expect(findings(said[199])).toMatchObject([
    {
      subject: { company_id: '7' },
      evidence: expect.arrayContaining([
        'other vans: 0 of 30 fell silent then',
        'this fits them alone, too: that speak gt06',
      ]),
    },
  ])
})

it('the evidence is grammatical if there is one other van', () => {
  const shared = { ...port('1'), others: 1, othersSilent: 1, also: [] }
  const stopped = { vans: 10, of: 10, still: 1, fromAt: 0, untilAt: 0, shared, named: ['1'] }
  const [{ evidence }] = diagnose({ now: 0, observations: [], traffic: [stopped] })
  expect([inEnglish(evidence[1]), inLanguage(evidence[1], 'de')]).toEqual([
    'other vans: 1 of 1 fell silent then',
    'andere Fahrzeuge: 1 von 1 verstummt',
  ])
})

it('the silence of vans that share a cause with other companies is of no company, and tells no company its size', () => {
  const said = watch(
    fleet(40, (index) => ({
      untilS: index < 10 ? 100 : Infinity,
      company: index < 10 ? '7' : '8',
      traits: [port(index < 12 ? '1' : '2')],
    })),
    200,
  )
  expect(said[199]).toMatchObject([{ vans: 10, of: 12, company: undefined }])
  expect(findings(said[199])).toMatchObject([{ subject: {} }])
})

it('the silence of vans that stood is a finding only if they are many', () => {
  expect(saidAfter(watchStood(19))).toBe(-1)
  expect(saidAfter(watchStood(20))).toBeLessThanOrEqual(160)
})

it('the silence of vans is a finding in time even if the clock of their gateway is slow', () => {
  const after = saidAfter(
    watch(
      fleet(50, () => ({ untilS: 100, behindS: 25 })),
      300,
    ),
  )
  expect(after).toBeGreaterThan(120)
  expect(after).toBeLessThanOrEqual(160)
})

it('the silence of fast vans is no finding before the slow ones can be judged', () => {
  const fast = trait('protocol', 'fast')
  const slow = trait('protocol', 'slow')
  const said = watch(
    fleet(20, (index) => ({ everyS: index < 10 ? 10 : 35, untilS: 100, traits: [index < 10 ? fast : slow] })),
    300,
  )
  expect(said.flat().every(({ shared }) => shared === undefined)).toBe(true)
  expect(said[299]).toMatchObject([{ vans: 20, of: 20 }])
})

it('the finding of a silence counts vans that are missing later, and ends when most are heard again', () => {
  const said = watch(
    fleet(40, (index) => (index < 20 ? { everyS: index < 14 ? 10 : 70, ...cutOff(index) } : { traits: [port('2')] })),
    450,
  )
  expect(said[160]).toMatchObject([{ vans: 14, of: 14 }])
  expect(said[399]).toMatchObject([{ vans: 20, of: 20, still: 20 }])
  expect(said[449]).toEqual([])
})

it('the silence of half of a fleet with nothing in common is a finding that says so', () => {
  const said = watch(
    fleet(40, (index) => (index % 2 === 0 ? { untilS: 100 } : {})),
    200,
  )
  expect(findings(said[199])).toMatchObject([
    {
      message: '20 of 40 vans fell silent within 8 s',
      evidence: expect.arrayContaining(['nothing that is known of them sets them apart from the others']),
    },
  ])
})

it('two silences at a time are two findings', () => {
  const [one, other] = [trait('company', '7'), trait('company', '8')]
  const said = watch(
    fleet(40, (index) => {
      if (index < 10) return { untilS: 100, company: '7', traits: [one] }
      if (index < 20) return { untilS: 150, company: '8', traits: [other] }
      return { company: '9' }
    }),
    250,
  )
  expect(findings(said[249]).map(({ subject }) => subject.company_id)).toEqual(['7', '8'])
})

describe('no common silence', () => {
  it.each<[string, Sender[], number]>([
    ['a fleet that drives', fleet(200), 600],
    ['a fleet that ends its shift one by one', fleet(200, (index) => ({ untilS: 300 + index * 8 })), 2400],
    [
      'a fleet that ends its shift one by one and sends once a minute',
      fleet(200, (index) => ({ everyS: 60, untilS: 300 + index * 8 })),
      2400,
    ],
    ['three vans that fall silent together', fleet(3, () => ({ untilS: 100 })), 600],
    ['vans that are parked', fleet(50, () => ({ untilS: 100, parkedS: 90 })), 600],
    ['connections that are made anew within seconds', fleet(50, () => ({ untilS: 100, fromS: 112 })), 300],
    ['a fleet that sends on the minute', fleet(60, () => ({ everyS: 60, isAligned: true })), 600],
    [
      'two gateways, one of which has a clock that is behind',
      fleet(50, (index) => ({ behindS: 25 * (index % 2) })),
      300,
    ],
    ['some vans of many that fall silent', fleet(100, (index) => (index < 8 ? { untilS: 100 } : {})), 600],
  ])('no common silence is found for %s', (_, senders, untilS) => {
    expect(saidAfter(watch(senders, untilS))).toBe(-1)
  })

  it('no common silence is found while something else explains it, or a moment later', () => {
    const senders = fleet(50, () => ({ untilS: 100, fromS: 200 }))
    expect(saidAfter(watch(senders, 400, (nowS) => nowS >= 108 && nowS < 198))).toBe(-1)
  })

  it('no common silence is found for vans that were heard before the watch had run for a minute', () => {
    const traffic = new TrafficWatch(START)
    const vans = fleet(50, () => ({ untilS: 50 })).flatMap((each) => seen(each, 50))
    for (let nowS = 50; nowS < 300; nowS++) traffic.look(vans, { now: START + nowS * S, isExplained: false })
    expect(traffic.stops()).toEqual([])
  })
})

it('a common silence that lasts longer than its other explanation is found a while later', () => {
  const said = watch(
    fleet(50, () => ({ untilS: 100 })),
    400,
    (nowS) => nowS >= 108 && nowS < 150,
  )
  expect(saidAfter(said)).toBeGreaterThan(260)
  expect(saidAfter(said)).toBeLessThanOrEqual(300)
})

it('the watch for silence continues if the clock is set back by hours', () => {
  const traffic = new TrafficWatch(START + 3 * 3600 * S)
  const senders = fleet(50, () => ({ untilS: 100 }))
  for (let nowS = 0; nowS < 200; nowS++)
    traffic.look(
      senders.flatMap((each) => seen(each, nowS)),
      { now: START + nowS * S, isExplained: nowS === 0 },
    )
  expect(traffic.stops()).toMatchObject([{ vans: 50 }])
})

it('a new watch takes over the findings of the one before, and ends them in the same way', () => {
  const senders = fleet(50, (index) => ({ untilS: 100, fromS: index < 40 ? 300 : 400 }))
  const before = new TrafficWatch(START - 3600 * S)
  const look = (traffic: TrafficWatch, nowS: number) => {
    traffic.look(
      senders.flatMap((each) => seen(each, nowS)),
      { now: START + nowS * S, isExplained: false },
    )
    return traffic.stops()
  }
  for (let nowS = 0; nowS < 200; nowS++) look(before, nowS)
  const after = new TrafficWatch(START + 200 * S)
  after.takeOver(before.kept())
  expect(look(after, 200)).toEqual(look(before, 200))
  expect(look(after, 299)).toMatchObject([{ vans: 50, still: 50 }])
  expect(after.stoppedWith('7')).toEqual(before.stoppedWith('7'))
  for (let nowS = 300; nowS < 312; nowS++) look(after, nowS)
  expect(after.stops()).toEqual([])
  expect(after.kept()).toBe('[]')
})
