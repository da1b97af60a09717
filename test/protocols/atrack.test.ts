import { expect, it } from 'vitest'
import atrack from '../../protocols/atrack/index.ts'
import { noSettings, type Session } from '../../protocols/kit/index.ts'

const SESSION: Session = { settingsOf: noSettings, transport: 'tcp', now: 0, lenient: false }

it.each(['20.3', '-5', 'x', '', '99999999'])('skips a text frame whose length is "%s" as noise', (length) => {
  const text = `@P,085B,${length},7,356961075931165,`.padEnd(300, '0')
  expect(atrack.tcp.frame(Buffer.from(text), { ...SESSION })).toBeLessThan(0)
})
