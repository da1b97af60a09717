import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { loadGateway } from '../../src/config/files.ts'
import { problemText } from '../../src/config/problem.ts'
import { folder, PROTOCOLS } from '../support/config-folder.ts'
import { pmtiles, vectorTile } from '../support/tiles.ts'

const archive = pmtiles(new Map([['0/0/0', vectorTile({})]]))

/** Returns what `waybridge check` says about a tile file with these bytes, and whether its path was found. */
async function said(bytes?: Buffer) {
  const dir = await folder({ 'gateway.yaml': 'page: { tiles: map.pmtiles }\n', ...(bytes && { 'map.pmtiles': bytes }) })
  const { mistakes } = await check(dir, PROTOCOLS, Date.now())
  const lines = mistakes.map((mistake) => problemText(mistake).replaceAll(`${dir}/`, ''))
  return { lines, isFound: (await loadGateway(dir)).page.tiles === join(dir, 'map.pmtiles') }
}

function changed(at: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(archive)
  copy.set(bytes, at)
  return copy
}

describe('a PMTiles file', () => {
  it('check accepts a PMTiles file relative to the folder of gateway.yaml', async () => {
    expect(await said(archive)).toEqual({ lines: [], isFound: true })
  })

  it.each([
    ['a file that does not exist', undefined, 'the file map.pmtiles cannot be read (ENOENT)'],
    ['an empty file', Buffer.alloc(0), 'map.pmtiles is no PMTiles file'],
    ['another file', Buffer.alloc(500, 'PMTail'), 'map.pmtiles is no PMTiles file'],
    ['version 2', changed(7, 2), 'map.pmtiles is PMTiles version 2: expected version 3'],
    [
      'half a download',
      archive.subarray(0, -1),
      `map.pmtiles is cut short: it has ${archive.length - 1} of ${archive.length} bytes`,
    ],
    ['Brotli', changed(98, 3), 'map.pmtiles is compressed with something else than gzip'],
    [
      'another type of tiles',
      changed(99, 6),
      'map.pmtiles has tiles of an unknown type: expected MVT, PNG, JPEG, WebP or AVIF',
    ],
  ])('check refuses as PMTiles file %s, which does not prevent the start', async (_, bytes, mistake) => {
    expect(await said(bytes)).toEqual({ lines: [`gateway.yaml:1:16 page.tiles: ${mistake}`], isFound: true })
  })
})
