import { API_TEST } from './api-test.ts'
import { DIAGNOSIS } from './diagnosis.ts'
import { PLAIN } from './plain.ts'
import { ROSTER } from './roster.ts'

/** Reasons why nobody can sign in to the page. */
const SIGN_IN = {
  '{} does not answer as a provider of OpenID Connect: {}': '{1} antwortet nicht als Anbieter von OpenID Connect: {2}',
}

/** Every text in German, by its English one: `{1}` stands for the first value. */
export const GERMAN = { ...DIAGNOSIS, ...ROSTER, ...API_TEST, ...PLAIN, ...SIGN_IN }
