import { connect } from 'node:net'
import { Client } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import osmand from '../../../protocols/osmand/index.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { gateway, open, SECRET, stopTime, talk, until } from '../../support/listen.ts'
import { inEnglish } from '../../support/texts.ts'

const AT = { host: '127.0.0.1', port: 0 }

/** Sends fixes of `locked` from an address of this machine. Returns the status and the text. */
function phone(port: number, localAddress: string) {
  const client = new Client(`http://127.0.0.1:${port}`, { localAddress })
  onTestFinished(() => client.destroy())
  return async (token: string) => {
    const path = `/?id=locked&lat=50&lon=8&token=${encodeURIComponent(token)}`
    const { statusCode, body } = await client.request({ path, method: 'GET' })
    return `${statusCode} ${await body.text()}`
  }
}

it('hides from a guesser that a secret is right until the van presents it, and never locks out the van', async () => {
  // The time stands, because a second after six wrong secrets the next one is checked.
  stopTime()
  const shared = gateway()
  const http = await open(listenHttp({ ...AT, protocol: osmand }, shared))
  const tcp = await open(listenTcp({ ...AT, protocol: talk }, shared))
  const [guesser, van] = [phone(http.port, '127.0.9.9'), phone(http.port, '127.0.0.1')]
  const answers = new Set<string>()
  for (let tries = 0; tries < 10; tries++) answers.add(await guesser(`guess-${tries}`))
  answers.add(await guesser(SECRET))
  expect([...answers]).toEqual([expect.stringMatching(/^403 /)])
  expect(await van(SECRET)).toBe('200 ')
  // From the network of the guesser.
  const socket = connect({ port: tcp.port, host: '127.0.0.1', localAddress: '127.0.9.7' })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (bytes) => (heard += bytes.toString()))
  socket.write(`id locked ${SECRET}\n`)
  await until(() => expect(heard).toBe('hi\n'))
  socket.write('fix 1\n')
  await until(() => expect(heard).toBe('hi\nok 1\n'))
  expect(shared.places).toEqual(['7/44/1003', '7/44/1003'])
  const found = inEnglish(observations.current()).find(
    ({ code, subject }) => code === 'guessing' && subject.device === 'locked',
  )
  expect(found?.evidence).toEqual(['6 wrong secrets from 127.0.9.0/24'])
})
