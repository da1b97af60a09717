import { describe, expect, it } from 'vitest'
import { client, httpServer } from '../support/tracking/http-servers.ts'

describe('reading positions', () => {
  const REQUEST = { company: '7', route: '1001', oauthToken: 'CANARY', from: 100, to: 200 }
  const answering = async (status: number, body: string) => {
    let seen: object = {}
    const url = await httpServer((request, response) => {
      seen = { method: request.method, url: request.url, authorization: request.headers.authorization }
      response.writeHead(status).end(body)
    })
    return { read: (request = {}) => client(`${url}/prefix`).positions({ ...REQUEST, ...request }), seen: () => seen }
  }

  it('reads positions with a GET and the token', async () => {
    const { read, seen } = await answering(200, '[]')
    expect(await read()).toEqual({ positions: [] })
    expect(seen()).toEqual({
      method: 'GET',
      url: '/prefix/api/v2/companies/7/routes/1001/courier-positions?from=100&to=200',
      authorization: 'OAuth CANARY',
    })
  })

  it('reads positions without an end of the interval', async () => {
    const { read, seen } = await answering(200, '[]')
    await read({ to: undefined })
    expect(seen()).toMatchObject({ url: expect.stringMatching(/\?from=100$/) })
  })

  it('reads 30,000 positions as the service stores them', async () => {
    const positions = Array.from({ length: 30_000 }, (_, i) => ({
      lat: i / 1_000,
      lon: i / 500,
      timestamp: i,
      server_timestamp: i,
    }))
    const { read } = await answering(200, JSON.stringify(positions))
    expect(await read()).toEqual({ positions })
  })

  it.each(['', '{}', '[{"lat":1}]', '[{"lat":"1","lon":2,"timestamp":3}]', '[', '<html>'])(
    'is a fault where the answer is %s',
    async (body) => {
      expect(await (await answering(200, body)).read()).toEqual({ fault: 'malformed' })
    },
  )

  it('gives a refusal of reading without the token', async () => {
    const { read } = await answering(401, '{"message":"token CANARY expired"}')
    expect(await read()).toEqual({ status: 401, text: 'token *** expired' })
  })

  it('gives a fault when a header cannot carry the token', async () => {
    const { read, seen } = await answering(200, '[]')
    expect(await read({ oauthToken: 'a\r\nb: c' })).toEqual({ fault: 'failed' })
    expect(seen()).toEqual({})
  })
})
