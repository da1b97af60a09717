import { expect, it, onTestFinished, vi } from 'vitest'
import { Observations } from '../../src/observe/observations.ts'

it('an observation has for each subject its count, its start and the latest different evidence', () => {
  const seen = new Observations()
  for (const [index, evidence] of ['a', 'b', 'a', 'c', 'd', 'e', 'f'].entries())
    seen.note('flood', { subject: { device: '1' }, evidence, now: 1000 + index })
  seen.note('flood', { subject: { device: '2' }, now: 1000 })
  expect(seen.current(1010)).toEqual([
    {
      code: 'flood',
      subject: { device: '1' },
      sinceAt: 1000,
      lastAt: 1006,
      count: 7,
      evidence: ['b', 'c', 'd', 'e', 'f'],
    },
    { code: 'flood', subject: { device: '2' }, sinceAt: 1000, lastAt: 1000, count: 1, evidence: [] },
  ])
})

it('an observation lasts from its earliest to its latest note, in any order of arrival', () => {
  const seen = new Observations()
  for (const now of [2000, 1000]) seen.note('flood', { now })
  expect(seen.current(2000)).toMatchObject([{ sinceAt: 1000, lastAt: 2000, count: 2 }])
})

it('an observed state has the count and the evidence of its last note, since its first note', () => {
  const seen = new Observations()
  const state = {
    subject: { file: 'devices.yaml', host: 'a' },
    evidence: ['devices.yaml:2', 'devices.yaml:3'],
    count: 2,
  }
  seen.noteState('config_refused', state)
  const [{ sinceAt }] = seen.current()
  seen.noteState('config_refused', { ...state, evidence: ['devices.yaml:3'], count: 1 })
  expect(seen.current()).toMatchObject([{ sinceAt, count: 1, evidence: ['devices.yaml:3'] }])
})

it('an observed state does not begin in the future if the clock was set back', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const seen = new Observations()
  const state = { subject: { file: 'devices.yaml' }, evidence: [], count: 1 }
  for (const now of [3_600_000, 1000]) {
    vi.setSystemTime(now)
    seen.noteState('config_refused', state)
  }
  expect(seen.current()).toMatchObject([{ sinceAt: 1000, lastAt: 1000 }])
})

it('an observation lasts while it is noted at each request, and then ends', () => {
  const seen = new Observations()
  const [end, endOther] = ['a', 'b'].map((name) =>
    seen.noteLasting(() => seen.note('bridge_down', { subject: { listener: name }, now: 1000 })),
  )
  expect(seen.current(1000)).toHaveLength(2)
  expect(seen.current(1000)).toMatchObject([{ count: 2 }, { count: 2 }])
  end()
  expect(seen.current(20_000)).toEqual([])
  seen.current(1000)
  expect(seen.current(1000).map(({ subject }) => subject.listener)).toEqual(['b'])
  endOther()
})

it('an observation ends if it was not repeated for a minute', () => {
  const seen = new Observations()
  seen.note('impossible_move', { now: 1000 })
  expect(seen.current(61_000)).toHaveLength(1)
  expect(seen.current(61_001)).toEqual([])
})

it('an observation of a continuous check ends after five seconds without a new note', () => {
  const seen = new Observations()
  seen.note('redis_full', { now: 1000 })
  expect(seen.current(6000)).toHaveLength(1)
  expect(seen.current(6001)).toEqual([])
})

it('an observation ends when the opposite is seen of its device, unless it is younger than five seconds', () => {
  const seen = new Observations()
  const subject = { device: '1' }
  seen.note('wrong_secret', { subject, now: 1000 })
  seen.note('clock_ahead', { subject, now: 1000 })
  seen.note('wrong_secret', { subject: { device: '2' }, now: 1000 })
  expect(['1', '2', '3'].map((device) => seen.devices.has(device))).toEqual([true, true, false])
  seen.over('1', ['wrong_secret'], 5999)
  expect(seen.current(5999)).toHaveLength(3)
  seen.over('1', ['wrong_secret'], 6000)
  expect(seen.current(6000).map(({ code, subject: { device } }) => [code, device])).toEqual([
    ['clock_ahead', '1'],
    ['wrong_secret', '2'],
  ])
  seen.over('1', ['clock_ahead'], 6000)
  expect(seen.devices.has('1')).toBe(false)
})

it('the observations of invented subjects are counted together beyond a limit', () => {
  const seen = new Observations()
  for (let id = 0; id < 10_000; id++) seen.note('clock_ahead', { subject: { device: String(id) }, now: 1000 })
  const current = seen.current(1000)
  expect(current.length).toBeLessThanOrEqual(501)
  expect(current.reduce((sum, { count }) => sum + count, 0)).toBe(10_000)
})
