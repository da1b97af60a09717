import { describe, expect, it } from 'vitest'
import { topicPattern } from '../../src/config/bridge.ts'
import { loadConfig } from '../../src/config/files.ts'
import { checked, folder, PROTOCOLS } from '../support/config-folder.ts'

async function bridgesOf(yaml: string) {
  return (await loadConfig(await folder({ 'gateway.yaml': yaml }), PROTOCOLS)).config.mqtt.bridges
}

/** Returns the mistakes of a bridge with a valid URL, a valid topic and these further keys. */
async function mistakesWith(more: string): Promise<string[]> {
  const text = `mqtt: { bridges: [{ url: "mqtts://broker.example", topics: { a/+: teltonika }, ${more} }] }`
  return (await checked({ 'gateway.yaml': text })).mistakes
}

async function mistakesOf(url: string, topics: string): Promise<string[]> {
  const text = `mqtt: { bridges: [{ url: "${url}", topics: ${topics} }] }`
  const { mistakes } = await checked({ 'gateway.yaml': text })
  return mistakes.map((line) => line.replace(/^gateway.yaml:\d+:\d+ mqtt.bridges\[0\]\.?/, ''))
}

describe('a bridge', () => {
  it('a bridge takes host, port and name from its URL, and speaks MQTT 5', async () => {
    const [bridge] = await bridgesOf(
      'mqtt: { bridges: [{ url: "mqtts://b.example", topics: { a/+/x: teltonika, "x/+/{device}/#": osmand } }] }',
    )
    expect(bridge).toEqual({
      host: 'b.example',
      port: 8883,
      isSecure: true,
      name: 'b.example:8883',
      topics: [
        { filter: 'a/+/x', device: 1, protocol: 'teltonika' },
        { filter: 'x/+/+/#', device: 2, protocol: 'osmand' },
      ],
      version: '5',
      tls: null,
    })
  })

  it('a bridge uses port 1883 without TLS', async () => {
    const [{ host, port, isSecure }] = await bridgesOf(
      'mqtt: { bridges: [{ url: "mqtt://[::1]", topics: { a/+: teltonika } }] }',
    )
    expect({ host, port, isSecure }).toEqual({ host: '::1', port: 1883, isSecure: false })
  })

  it.each(['http://a', 'a:1883', 'mqtts://user:canary@a', 'mqtt://a/topic', 'mqtts://', 'ws://a'])(
    'a bridge refuses the URL %s without quoting it',
    async (url) => {
      expect(await mistakesOf(url, '{ a/+: teltonika }')).toEqual([
        'url: expected a URL such as mqtts://broker.example:8883, without path; user name and password have keys of their own',
      ])
    },
  )

  it('a bridge names each wrong topic, and what is wrong with it', async () => {
    const topics =
      '{ fleet/pos: teltonika, "a/{device}/{device}": osmand, a/+: teltonica, a/b+/+: osmand, $share/g/+: osmand }'
    expect(await mistakesOf('mqtt://a', topics)).toEqual([
      'topics.fleet/pos: expected a + in place of the id of the device, such as fleet/+/pos',
      'topics.a/{device}/{device}: expected + or one {device} for a whole level, and # for the last level alone',
      'topics.a/+: unknown protocol: did you mean teltonika?',
      'topics.a/b+/+: expected + or one {device} for a whole level, and # for the last level alone',
      'topics.$share/g/+: expected no level that begins with $: shared_group names a group',
    ])
    expect(await mistakesOf('mqtt://a', '{}')).toEqual(['topics: expected at least one topic'])
    const missing = ['topics: expected topics with their protocols, such as { fleet/+/pos: fix }']
    expect(await mistakesOf('mqtt://a', 'null')).toEqual(missing)
  })

  it.each([
    ['password: canary', 'password: needs username'],
    ['shared_group: a/b', 'shared_group: expected the name of a group without /, + and #'],
    ['version: 4', 'version: expected one of 5, 3.1.1'],
    ['tls: { cert: a.pem }', 'tls.cert: needs key'],
    ['tls: { key: a.pem }', 'tls.key: needs cert'],
    ['gruop: g', 'gruop: unknown key: expected one of url, name, topics'],
  ])('a bridge refuses %s', async (more, mistake) => {
    expect((await mistakesWith(more)).join()).toContain(`mqtt.bridges[0].${mistake}`)
  })

  it('a bridge refuses tls beside mqtt://, and two bridges of one name', async () => {
    const bridge = 'url: "mqtt://a", topics: { a/+: teltonika }'
    const text = `mqtt: { bridges: [{ ${bridge}, tls: {} }, { ${bridge} }, { ${bridge} }] }`
    const { mistakes } = await checked({ 'gateway.yaml': text })
    expect(mistakes.join()).toContain('mqtt.bridges[0].tls: needs a url that begins with mqtts://')
    const twice = await checked({ 'gateway.yaml': `mqtt: { bridges: [{ ${bridge} }, { ${bridge} }] }` })
    expect(twice.mistakes).toEqual([expect.stringContaining('another bridge has the name a:1883')])
  })

  it('check names TLS files of a bridge that cannot be read', async () => {
    const [mistake] = await mistakesWith('tls: { ca: none.pem }')
    expect(mistake).toMatch(/mqtt\.bridges\[0\]\.tls\.ca: the file .*none\.pem cannot be read \(ENOENT\)$/)
  })
})

it.each([
  ['+', { filter: '+', device: 0 }],
  ['a/+/+/b', { filter: 'a/+/+/b', device: 1 }],
  ['a/+/{device}', { filter: 'a/+/+', device: 2 }],
  ['a/{device}/#', { filter: 'a/+/#', device: 1 }],
])('the topic pattern %s says which level is the device', (pattern, read) => {
  expect(topicPattern(pattern)).toEqual(read)
})

it.each(['a/#', '#/+', 'a+/b', '{device}x/+', 'a/{id}/+'])('the topic pattern %s is refused', (pattern) => {
  expect(topicPattern(pattern)).toHaveProperty('mistake')
})
