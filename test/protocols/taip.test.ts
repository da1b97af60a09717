import { expect, it } from 'vitest'
import { cut } from '../../protocols/kit/index.ts'
import taip from '../../protocols/taip/index.ts'
import { newSession } from '../support/rough.ts'

it('skips bytes that a tracker puts in front of a TAIP message, and bytes between two messages', () => {
  const message = '>RPV40914+5252000-0134100003627032;ID=0017<'
  const stream = Buffer.from(`\x20\x20\x06\x20${message}\r\n${message}\r\n`)
  const { frames } = cut(stream, taip.tcp?.frame ?? expect.fail(), newSession())
  expect(frames.map(String)).toEqual([message, message])
})
