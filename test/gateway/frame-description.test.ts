import { expect, it } from 'vitest'
import { describeFrame, type FrameDescription } from '../../src/gateway/frame-description.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { withoutSecret } from '../../src/roster/device-entry.ts'
import { contentOf, shownBytes } from '../../src/store/misunderstood-frame.ts'
import { cpuOf, MOST_CPU_MS } from '../support/cost.ts'

const ABOUT = { at: 1, device: 'van-1', protocol: 'fix', transport: 'tcp', reason: 'not_read' } as const

function described(content: FrameDescription['content'], secret?: string, more: Partial<FrameDescription> = {}) {
  return describeFrame({ ...ABOUT, content, secrets: [secret, undefined], entry: undefined, ...more })
}

const text = (content: ReturnType<typeof contentOf>) =>
  Buffer.isBuffer(content) ? content.toString('latin1') : content

it('a kept frame has the bytes of the frame', () => {
  const bytes = Buffer.from([0, 255, 0x78, 0x0d, 0x0a])
  expect(contentOf(described(bytes))).toEqual(bytes)
  const request = { method: 'POST', uri: '/?id=1', headers: { 'x-limit-u': 'ä' }, body: bytes }
  expect(contentOf(described(request))).toEqual(request)
  expect(described(bytes).masked).toBeUndefined()
})

it.each([
  ['plain', 's3cret&"', 'token=s3cret&"&x', 'token=********&x'],
  ['as a URL has it', 's3cret&"', 'token=s3cret%26%22&x', 'token=************&x'],
  ['as a URL has it, in lower case', 'Ä/1', 't=%c3%84%2f1', `t=${'*'.repeat(10)}`],
  ['as a form has it', 'a b c d', 't=a+b+c+d', 't=*******'],
  ['as JSON has it', 's3cret&"', '{"t":"s3cret&\\""}', '{"t":"*********"}'],
  ['in UTF-8', 'grüße', Buffer.from('t=grüße').toString('latin1'), 't=*******'],
])('masks a secret in a kept frame with asterisks of its length: %s', (_, secret, frame, expected) => {
  const kept = described(Buffer.from(frame, 'latin1'), secret)
  expect(text(contentOf(kept))).toBe(expected)
  expect(kept.masked).toBe(secret.length < 4 ? 'short' : 'secret')
})

it('marks a kept frame whose secret is so short that something else may be hidden', () => {
  expect(described(Buffer.from('*HQ,12,V1,121212#'), '12').masked).toBe('short')
  const both = { secrets: ['12', 'canary'] }
  expect(described(Buffer.from('canary 12 canary'), undefined, both).masked).toBe('short')
})

it.each([
  ['alone', '1;moss-owl-7;2'],
  ['behind a sign', '#L#van-1;pw=moss-owl-7'],
  ['percent-encoded', '/?x=moss%2Dowl%2D7&y=1'],
  ['with a length', '\x0amoss-owl-7\x00'],
  ['in JSON', '{"deep":{"x":"moss-owl\\u002d7"}}'],
])('masks a secret of the device that was not presented in a kept frame: %s', (_, frame) => {
  const entry = withoutSecret({ id: 'van-1', company_id: '7', secret: 'new-secret', previous_secret: 'moss-owl-7' })
  const kept = described(Buffer.from(frame, 'latin1'), undefined, { entry })
  expect(kept.masked).toBe('secret')
  expect(text(contentOf(kept))).toBe(frame.replace(/moss(-|%2D)owl(-|%2D|\\u002d)7/, (each) => '*'.repeat(each.length)))
  expect(described(Buffer.from(frame, 'latin1')).masked).toBeUndefined()
})

it.each([
  ['?id=1&token=a-b_c&lat=1', '?id=1&token=*****&lat=1'],
  ['{"Token" : "a \\"b, c","lat":1}', '{"Token" : "********","lat":1}'],
  ['{"accessToken":12345,"auth":true}', '{"accessToken":11111,"auth":true}'],
  ['{"pwd":-270.5e+2,"lat":1}', '{"pwd":-111.1e+1,"lat":1}'],
  ['{"password":"cut o', '{"password":"*****'],
  ["pwd='a b' x", "pwd='***' x"],
  ['<api_key>abc</api_key>', '<api_key>***</api_key>'],
  ['Authorization: Basic YTpi\r\n', 'Authorization: Basic ****\r\n'],
  ['pass=1234;user_pass=a', 'pass=1111;user_pass=*'],
  ['key=x,monkey=y,keyless=z', 'key=*,monkey=y,keyless=z'],
  ['no token here', 'no token here'],
])('masks what is named like a secret in a kept frame: %s', (frame, expected) => {
  expect(text(contentOf(described(Buffer.from(frame))))).toBe(expected)
})

it.each(['{"compass":270.5}', '{"passengers":"two"}', '{"author":"x"}', '{"ueToken":"x"}', 'PasswordError="0"'])(
  'keeps what is named by a word that only contains the name of a secret: %s',
  (frame) => {
    expect(text(contentOf(described(Buffer.from(frame))))).toBe(frame)
  },
)

it('keeps the id of the device in a kept frame, whatever it is named or used as', () => {
  const frame = 'token=van-1&lat=1'
  const kept = described(Buffer.from(frame), 'van-1')
  expect([text(contentOf(kept)), kept.masked]).toEqual([frame, undefined])
  expect(text(contentOf(described(Buffer.from('{"token":42}'), '42', { device: '0042' })))).toBe('{"token":42}')
})

it('a kept frame stays JSON if a number in it is the secret', () => {
  const kept = described(Buffer.from('{"pwd":123456,"lat":1}'), '123456')
  expect([text(contentOf(kept)), kept.masked]).toEqual(['{"pwd":111111,"lat":1}', 'secret'])
})

it.each(['pass', 'token="', "key=' ", 'auth:', '%', '"'])(
  'masks a frame in linear time: "%s" again and again',
  (part) => {
    const cost = (length: number) => {
      const frame = Buffer.from(part.repeat(length / part.length))
      const entry = withoutSecret({ id: 'van-1', company_id: '7', secret: 'moss-owl-7' })
      const begun = process.cpuUsage()
      for (let n = 0; n < 5; n++) described(frame, 'canary', { entry })
      return process.cpuUsage(begun).user
    }
    cost(1 << 13)
    expect(cost(1 << 17)).toBeLessThan(60 * Math.max(1000, cost(1 << 13)))
  },
)

it.each([
  ['quotation marks', '"\\'],
  ['brackets', '['],
  ['words', 'moss owl '],
])('masks a frame full of %s in little time if its device has a secret', (_, part) => {
  const entry = withoutSecret({ id: 'van-1', company_id: '7', secret: 'new-secret', previous_secret: 'moss-owl-7' })
  const frame = Buffer.alloc(4096, part)
  const keepFive = () => {
    for (let n = 0; n < 5; n++) described(frame, undefined, { entry })
  }
  expect(cpuOf(keepFive)).toBeLessThan(MOST_CPU_MS)
})

it('masks a secret in the error, opening, address and headers of a kept frame', () => {
  const content = {
    method: 'GET',
    uri: '/?token=canary',
    headers: { authorization: 'Basic dmFuOmNhbmFyeQ==', cookie: 'a=b', 'x-key': 'canary', host: 'gps' },
    body: Buffer.from('canary'),
  }
  const more = { error: '"canary" is not a number', opening: ['#L#1;canary'] }
  const kept = described(content, 'canary', more)
  expect(kept.error).toBe('"******" is not a number')
  expect(kept.opening).toEqual([Buffer.from('#L#1;******').toString('base64')])
  expect(contentOf(kept)).toEqual({
    method: 'GET',
    uri: '/?token=******',
    headers: { 'x-key': '******', host: 'gps' },
    body: Buffer.from('******'),
  })
})

it('the opening of a conversation is its first four frames of up to 256 bytes, without requests', () => {
  const session = new Conversation('tcp', '192.0.2.7:5')
  session.opened({ method: 'GET', uri: '/', headers: {}, body: Buffer.alloc(0) })
  session.opened(Buffer.alloc(257))
  for (const frame of ['1', '2\xff', '3', '4', '5']) session.opened(Buffer.from(frame, 'latin1'))
  expect(session.opening).toEqual(['1', '2\xff', '3', '4'])
})

it('shows bytes as text or hexadecimal digits', () => {
  expect(shownBytes(Buffer.from('grüße\r\n'), 100)).toEqual({ text: 'grüße\r\n' })
  expect(shownBytes(Buffer.from('7878ff', 'hex'), 100)).toEqual({ hex: '7878ff' })
})

it('shows bytes as text although they are cut within a character', () => {
  expect(shownBytes(Buffer.from(`x${'ü'.repeat(10)}`), 10)).toEqual({ text: `x${'ü'.repeat(4)}` })
})
