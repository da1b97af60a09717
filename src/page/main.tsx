import { render } from 'preact'
import { App } from './app.tsx'
import { takeSignIn, takeToken } from './data/session.ts'
import { language } from './words/index.ts'

takeToken()
takeSignIn()
document.documentElement.lang = language
addEventListener('hashchange', takeToken)
render(<App />, document.getElementById('page')!)
