import { de } from './de.ts'
import { en, type Words } from './en.ts'

const LANGUAGES: Readonly<Record<string, Words>> = { en, de }

/** The language of the page: `page.language`, else the first of the browser's that the page has, else English. */
export const language = chosen()

/** The locale for numbers and days: the browser's, if it speaks the page's language. */
export const locale = navigator.languages.find((each) => each.toLowerCase().startsWith(language)) ?? language

/** Every text of the page, in its language. */
export const words: Words = LANGUAGES[language]

function chosen(): string {
  const configured = document.querySelector<HTMLMetaElement>('meta[name="waybridge-language"]')?.content ?? 'auto'
  const wanted = configured === 'auto' ? navigator.languages : [configured]
  return wanted.map((each) => each.slice(0, 2).toLowerCase()).find((each) => Object.hasOwn(LANGUAGES, each)) ?? 'en'
}
