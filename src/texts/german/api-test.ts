/** Results of the test of the tracking API, and what to change. */
export const API_TEST = {
  'not tested, since a step before failed': 'nicht geprüft, da ein Schritt davor scheiterte',
  '{} is an address and needs no DNS': '{1} ist eine Adresse und braucht kein DNS',
  '{} has the address {}': '{1} hat die Adresse {2}',
  'the host name {} does not exist': 'den Hostnamen {1} gibt es nicht',
  'correct {}, or the DNS of this machine': '{1} oder das DNS dieses Rechners berichtigen',
  'the DNS of this machine does not answer for {} ({})': 'das DNS dieses Rechners antwortet nicht für {1} ({2})',
  'check the DNS of this machine': 'das DNS dieses Rechners prüfen',
  'connected to {} port {} in {} ms': 'verbunden mit {1} Port {2} in {3} ms',
  '{} port {}': '{1} Port {2}',
  'correct the files of tls in gateway.yaml': 'die Dateien unter tls in gateway.yaml berichtigen',
  'connected to {} through the proxy in {} ms': 'verbunden mit {1} durch den Proxy in {2} ms',
  '{} cannot be reached through the proxy: {}': '{1} ist durch den Proxy nicht zu erreichen: {2}',
  'correct the proxy of the API in gateway.yaml (tracking.proxy), or ask who runs it':
    'den Proxy der API in gateway.yaml (tracking.proxy) berichtigen oder den Betreiber fragen',
  '{} cannot be reached ({})': '{1} ist nicht zu erreichen ({2})',
  'no answer within {} s': 'keine Antwort binnen {1} s',
  '{} refuses connections': '{1} weist Verbindungen ab',
  'start waybridge: its embedded tracking service listens there':
    'waybridge starten: sein eingebauter Tracking-Dienst lauscht dort',
  'start the API, or correct the port in {}': 'die API starten oder den Port in {1} berichtigen',
  'no TLS, on this machine': 'kein TLS, auf diesem Rechner',
  'no TLS: keys and positions can be read on the way': 'kein TLS: Schlüssel und Positionen sind unterwegs lesbar',
  'use https:// in {}': 'in {1} https:// verwenden',
  '{} does not complete a TLS handshake ({})': '{1} schließt den TLS-Handshake nicht ab ({2})',
  'correct {}: http:// or another port': '{1} berichtigen: http:// oder ein anderer Port',
  'the certificate of {} by {} is trusted and ends on {}':
    'dem Zertifikat von {1}, ausgestellt von {2}, wird vertraut; es endet am {3}',
  'the certificate of {} ended on {}': 'das Zertifikat von {1} endete am {2}',
  'the certificate of {} is valid only from {} on': 'das Zertifikat von {1} gilt erst ab {2}',
  'set the clock of this machine, or renew the certificate of the API':
    'die Uhr dieses Rechners stellen oder das Zertifikat der API erneuern',
  'the certificate is for {}, not for {}': 'das Zertifikat ist für {1}, nicht für {2}',
  'correct {}, or the certificate of the API; so answers a login page, too':
    '{1} oder das Zertifikat der API berichtigen; so antwortet auch eine Anmeldeseite',
  'the certificate of {} is signed by nobody but {} itself':
    'das Zertifikat von {1} ist von niemandem als {2} selbst unterschrieben',
  'the certificate of {} is signed by {}, whom this machine does not trust':
    'das Zertifikat von {1} ist von {2} unterschrieben, und dem vertraut dieser Rechner nicht',
  'the certificate of {} is not accepted ({})': 'das Zertifikat von {1} wird nicht anerkannt ({2})',
  'an authority without a name': 'einer Stelle ohne Namen',
  'renew the certificate of the API': 'das Zertifikat der API erneuern',
  'if the authority is your own, name its certificate in tracking.tls.ca (gateway.yaml); otherwise have the API use a certificate of one that this machine trusts':
    'ist es eine eigene Stelle, ihr Zertifikat in tracking.tls.ca (gateway.yaml) nennen; sonst die API ein Zertifikat einer verwenden lassen, der dieser Rechner vertraut',
  'the apikey': 'der apikey',
  'apikey {} of {}': 'apikey {1} von {2}',
  '{} is accepted ({})': '{1} wird anerkannt ({2})',
  '{} is refused: {}': '{1} wird abgelehnt: {2}',
  'set the apikey of company {} in gateway.yaml (companies), and see that the courier is one of the company':
    'den apikey der Firma {1} in gateway.yaml (companies) setzen und sehen, dass der Fahrer zur Firma gehört',
  'the API limits our requests: {}': 'die API begrenzt unsere Anfragen: {1}',
  'ask for a higher limit, or set push.max_requests_per_s':
    'um eine höhere Grenze bitten oder push.max_requests_per_s setzen',
  'the API does not know courier {} on route {}: {}': 'die API kennt Fahrer {1} auf Tour {2} nicht: {3}',
  'correct the courier or the route, or the path in tracking.base_url (or push_url)':
    'Fahrer oder Tour berichtigen, oder den Pfad in tracking.base_url (oder push_url)',
  'no courier is known to test {} with: {}': 'kein Fahrer ist bekannt, mit dem sich das prüfen ließe ({1}): {2}',
  'name a courier and a route that the API knows, to test the key with them':
    'einen Fahrer und eine Tour nennen, die die API kennt, um den Schlüssel damit zu prüfen',
  'company {} has no oauth_token: nothing is read back, orders and numbers are not relayed':
    'Firma {1} hat kein oauth_token: nichts wird zurückgelesen, Aufträge und Nummern werden nicht weitergegeben',
  'there is no oauth_token to read with': 'es gibt kein oauth_token zum Lesen',
  'there is no oauth_token to read it back with': 'es gibt kein oauth_token zum Zurücklesen',
  'a route that nobody has': 'einer Tour, die niemand hat',
  'route {}': 'Tour {1}',
  '{} positions of {} in the last two hours': '{1} Positionen von {2} in den letzten zwei Stunden',
  'no list of positions': 'keine Liste von Positionen',
  'the OAuth token is accepted': 'das OAuth-Token wird anerkannt',
  'the API refuses the OAuth token of company {}: {}': 'die API lehnt das OAuth-Token der Firma {1} ab: {2}',
  'set the oauth_token of the company in gateway.yaml (companies)':
    'das oauth_token der Firma in gateway.yaml (companies) setzen',
  'not known, since reading failed': 'nicht bekannt, da das Lesen scheiterte',
  'the API refuses a position of courier {} on route {}: {}':
    'die API lehnt eine Position von Fahrer {1} auf Tour {2} ab: {3}',
  'a position of courier {} on route {} at {}, {} of {} is taken ({})':
    'eine Position von Fahrer {1} auf Tour {2} bei {3}, {4} von {5} ist angenommen ({6})',
  'it is read back after {} s': 'sie ist nach {1} s zurückgelesen',
  'it is not among the {} positions of its second after {} s':
    'sie ist nach {2} s nicht unter den {1} Positionen ihrer Sekunde',
  'tell who runs the tracking API: what it takes is not there':
    'den Betreiber der Tracking-API benachrichtigen: was sie annimmt, ist nicht da',
  'the API does not answer within {} s': 'die API antwortet nicht binnen {1} s',
  'there is no answer of the API that can be used ({})': 'es gibt keine brauchbare Antwort der API ({1})',
  'tell who runs the tracking API, or try later':
    'den Betreiber der Tracking-API benachrichtigen oder es später versuchen',
  'what answers is not the tracking API: {}': 'was antwortet, ist nicht die Tracking-API: {1}',
  'redirects to: {}': 'leitet weiter zu: {1}',
  'begins with: {}': 'beginnt mit: {1}',
  'the API answers {}': 'die API antwortet mit {1}',
  'correct tracking.base_url (or push_url), or what is in between: a proxy, a firewall, a login page of the network':
    'tracking.base_url (oder push_url) berichtigen, oder was dazwischen steht: ein Proxy, eine Firewall, eine Anmeldeseite des Netzes',
}
