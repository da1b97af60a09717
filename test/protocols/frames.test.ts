import { describe, expect, it } from 'vitest'
import { loadProtocols, protocolPorts } from '../../protocols/index.ts'
import { conversationDifferences } from '../support/own-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'

/** What each protocol's own frames say, exactly; and that each protocol has what the tests need. */
for (const protocol of await loadProtocols()) {
  const { name, devices, tcp, udp, http, integrity, escaping, accuracy } = protocol
  describe(name, async () => {
    const { costly, frames } = await casesOf(name)

    it.each(frames)('$title', (conversation) => {
      const wrong = conversationDifferences(protocol, conversation)
      if (wrong.length > 0) expect.fail(wrong.join('\n'))
    })

    it('has a frame of its own with a fix, and costly frames', () => {
      const fixes = frames.flatMap((each) => each.frames.flatMap((frame) => frame.fixes ?? []))
      expect([fixes.length, Object.keys(costly).length]).not.toContain(0)
    })

    it('says what its devices are, what its checksum covers, how it escapes, and how accurate it is', () => {
      expect(JSON.stringify([devices, integrity, costly])).not.toContain('FILL IN')
      expect(Object.keys(integrity)).toSatisfy((keys) => keys.includes('none') || keys.includes('covers'))
      expect([escaping === 'none' || escaping.codes.size > 0, ['metres', 'hdop', 'none'].includes(accuracy)]).toEqual([
        true,
        true,
      ])
    })

    it('has the ports that protocols/index.ts names', () => {
      const ports = { name, tcp: tcp?.port, udp: udp?.port, http: http?.port }
      expect(protocolPorts.find((each) => each.name === name)).toEqual(ports)
    })
  })
}

it('protocols/index.ts is in alphabetical order', () => {
  const names = protocolPorts.map(({ name }) => name)
  expect(names).toEqual(names.toSorted())
})
