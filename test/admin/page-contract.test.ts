import { expect, it } from 'vitest'
import type * as z from 'zod'
import type { ApiTestsJson } from '../../src/admin/apis.ts'
import type { HistoryJson } from '../../src/admin/device/history.ts'
import type { DeviceFrameJson, DeviceJson, DeviceRowJson } from '../../src/admin/device/json.ts'
import type { FindingJson, LaneJson, ParkedLaneJson, StatusJson } from '../../src/admin/json.ts'
import type {
  ApiTests,
  DaysOfVan,
  FoundFault,
  ParkedOfLane,
  QueuedLane,
  SystemStatus,
  VanDetail,
  VanRow,
  WatchedFrameRow,
} from '../../src/page/data/types.ts'
import { de } from '../../src/page/words/de.ts'
import { en } from '../../src/page/words/en.ts'

/* What the page reads is what the admin port answers: the compiler compares them, so that this file fails to compile otherwise. */
type Fits<Answer extends Read, Read> = [Answer, Read]
export type Checked = [
  Fits<z.infer<typeof StatusJson>, SystemStatus>,
  Fits<z.infer<typeof FindingJson>, FoundFault>,
  Fits<z.infer<typeof DeviceRowJson>, VanRow>,
  Fits<z.infer<typeof DeviceJson>, VanDetail>,
  Fits<z.infer<typeof DeviceFrameJson>, WatchedFrameRow>,
  Fits<z.infer<typeof HistoryJson>, DaysOfVan>,
  Fits<z.infer<typeof LaneJson>, QueuedLane>,
  Fits<z.infer<typeof ParkedLaneJson>, ParkedOfLane>,
  Fits<z.infer<typeof ApiTestsJson>, ApiTests>,
]

it('every text is there in each language, and none is left in English', () => {
  expect(keysOf(de)).toEqual(keysOf(en))
  const same = textsOf(en).filter(
    ([key, text]) => text.length > 12 && textsOf(de).some(([other, own]) => other === key && own === text),
  )
  expect(same).toEqual([])
})

function keysOf(words: object, path = ''): string[] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value as object, `${path}${key}.`) : [path + key],
  )
}

function textsOf(words: object, path = ''): [key: string, text: string][] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'object'
      ? textsOf(value as object, `${path}${key}.`)
      : typeof value === 'string'
        ? [[path + key, value]]
        : [],
  )
}
