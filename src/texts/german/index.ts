import { DIAGNOSIS } from './diagnosis.ts'

/** Every text in German, by its English one: `{1}` stands for the first value. */
export const GERMAN = { ...DIAGNOSIS }
