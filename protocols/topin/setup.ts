import type { Setup } from '../kit/index.ts'

export default {
  manual: '365GPS (Topin): SMS commands',
  steps: ['APN#{apn}#{user}#{password}#', 'SERVER#{host}#{port}#', 'MD#30'],
  note: 'SERVER# is for good; DOMAIN# in its place goes back to the server of the maker while this one does not answer. MD# is the seconds between fixes, 10 to 60. Without user and password: APN#<apn>#.',
} satisfies Setup
