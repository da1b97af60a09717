import { API_TEST } from './api-test.ts'
import { DIAGNOSIS } from './diagnosis.ts'
import { PLAIN } from './plain.ts'
import { ROSTER } from './roster.ts'

/** Every text in German, by its English one: `{1}` stands for the first value. */
export const GERMAN = { ...DIAGNOSIS, ...ROSTER, ...API_TEST, ...PLAIN }
