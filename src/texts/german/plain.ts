/* Texts for dispatchers, who do not know how waybridge works: see src/diagnose/plain.ts. */

const PROBLEMS = {
  'deliver them to their route as well, with the button, or say that it is not needed':
    'sie mit dem Knopf auch ihrer Tour zustellen, oder sagen, dass es nicht nötig ist',
  'delivered positions are kept for {} only: what is older cannot be corrected':
    'zugestellte Positionen werden nur {1} aufbewahrt: was älter ist, lässt sich nicht berichtigen',
  'nothing is heard, though on a route now': 'kein Lebenszeichen, obwohl jetzt auf Tour',
  'messages arrive, but no new position': 'Meldungen kommen an, aber keine neue Position',
  'the positions have wrong times: they are behind': 'die Positionen haben falsche Zeiten: sie gehen nach',
  'the clock of the tracker is ahead: positions are not delivered':
    'die Uhr des Trackers geht vor: Positionen werden nicht zugestellt',
  'positions arrive, but there is no route for them': 'Positionen kommen an, aber es gibt keine Tour dafür',
  'sends positions, and is not named yet: they are held back':
    'sendet Positionen und hat noch keinen Namen: sie werden zurückgehalten',
  'a wrong password, or none, is presented: what comes with it is not delivered':
    'ein falsches oder kein Passwort wird gezeigt: was damit kommt, wird nicht zugestellt',
  'something comes in a way that the entry does not allow: it is not delivered':
    'etwas kommt auf einem Weg, den der Eintrag nicht erlaubt: es wird nicht zugestellt',
  'two senders use the same id or address': 'zwei Absender benutzen dieselbe Kennung oder Adresse',
  'moved faster than a vehicle can': 'bewegte sich schneller, als ein Fahrzeug es kann',
  'somebody tries wrong passwords': 'jemand probiert falsche Passwörter',
  'more connections use the same id than are allowed': 'mehr Verbindungen, als erlaubt sind, benutzen dieselbe Kennung',
  'messages arrive damaged': 'Meldungen kommen beschädigt an',
  'positions arrive that cannot be read: they are kept':
    'Positionen kommen an, die nicht lesbar sind: sie werden aufgehoben',
  'sends to the port of other trackers: the positions are taken all the same':
    'sendet an den Port anderer Tracker: die Positionen werden trotzdem angenommen',
  'on a route now, but sends to a port that does not understand it: nothing is taken':
    'jetzt auf Tour, sendet aber an einen Port, der es nicht versteht: nichts wird angenommen',
  'so many positions are held back that the oldest are given up':
    'so viele Positionen werden zurückgehalten, dass die ältesten verworfen werden',
  'positions were held back for too long, and are given up':
    'Positionen wurden zu lange zurückgehalten und werden verworfen',
  'positions may be sent twice': 'Positionen werden vielleicht doppelt gesendet',
  'SOS, the button was pressed': 'SOS, der Knopf wurde gedrückt',
  'the tracker says that its power was cut': 'der Tracker meldet, dass sein Strom getrennt wurde',
  'the battery of the tracker is low': 'der Akku des Trackers ist fast leer',
  'the tracker says that its signals are jammed': 'der Tracker meldet, dass seine Signale gestört werden',
  'positions are held back: they lack what the entry asks for, such as a password':
    'Positionen werden zurückgehalten: ihnen fehlt, was der Eintrag verlangt, etwa ein Passwort',
  'nothing of its tracker was accepted so far': 'von seinem Tracker wurde noch nichts angenommen',
}

const ACTIONS = {
  'have the power and the SIM card of the tracker checked': 'Strom und SIM-Karte des Trackers prüfen lassen',
  'if no roof is above the van, have the GPS antenna of the tracker checked':
    'steht das Fahrzeug nicht unter einem Dach, die GPS-Antenne des Trackers prüfen lassen',
  'if the times are off by hours, set the time zone of the van under Edit; if not, set the clock of its tracker':
    'gehen die Zeiten um Stunden nach, unter Bearbeiten die Zeitzone des Fahrzeugs setzen, sonst die Uhr des Trackers stellen',
  'set the time zone {} for {} under Edit': 'für {2} unter Bearbeiten die Zeitzone {1} setzen',
  'remove the time zone of {} under Edit': 'unter Bearbeiten die Zeitzone von {1} entfernen',
  'if the tracker reports local time, set the time zone of the van under Edit; otherwise have the clock of the tracker set':
    'meldet der Tracker Ortszeit, unter Bearbeiten die Zeitzone des Fahrzeugs setzen; sonst die Uhr des Trackers stellen lassen',
  'assign a route: held positions of its time go there':
    'eine Tour zuweisen: zurückgehaltene Positionen ihrer Zeit gehen dorthin',
  'if it is yours, name it under Arrivals: its held positions are then delivered':
    'ist es ein eigener, ihn unter Ankünfte benennen: seine Positionen werden dann zugestellt',
  'is it {}, with a mistyped id? If so, correct that id; otherwise name it under Arrivals if it is yours':
    'ist es {1}, mit vertippter Kennung? Dann die Kennung berichtigen; sonst unter Ankünfte benennen, wenn es ein eigener ist',
  'set the same password in the tracker and under Edit of the van':
    'im Tracker und unter Bearbeiten des Fahrzeugs dasselbe Passwort setzen',
  'if that is your tracker, have its entry corrected': 'ist es Ihr Tracker, seinen Eintrag berichtigen lassen',
  'find out which sender is the real one': 'klären, welcher Absender der echte ist',
  'look at its way: if the positions are not its own, somebody else uses its id':
    'den Weg ansehen: sind es nicht seine Positionen, benutzt jemand anders seine Kennung',
  'tell who runs this server: the networks that try can be blocked':
    'dem Betreiber dieses Servers sagen: die Netze, aus denen das kommt, lassen sich sperren',
  'find out who else uses the same id': 'klären, wer dieselbe Kennung noch benutzt',
  'have the firmware of the tracker updated, or its connection checked':
    'die Firmware des Trackers erneuern oder seine Verbindung prüfen lassen',
  'check the model of the tracker in its entry; otherwise report it':
    'das Modell des Trackers in seinem Eintrag prüfen; sonst dies melden',
  'have another port set in the tracker; it does not hurry':
    'im Tracker einen anderen Port setzen lassen; es eilt nicht',
  'have the right port set in the tracker': 'im Tracker den richtigen Port setzen lassen',
  'it seems to speak {}, for which this server has no port: tell who runs it':
    'es spricht wohl {1}, wofür dieser Server keinen Port hat: dem Betreiber sagen',
  'have port {} set in the tracker: it seems to speak {}': 'im Tracker Port {1} setzen lassen: er spricht wohl {2}',
  'open the van: it says what holds its positions back':
    'das Fahrzeug öffnen: dort steht, was seine Positionen zurückhält',
  'find out who sends so many different times for the van':
    'klären, wer für das Fahrzeug so viele verschiedene Zeiten sendet',
  'end the route of the van that does not drive it: the positions of all are sent':
    'die Tour des Fahrzeugs beenden, das sie nicht fährt: die Positionen aller werden gesendet',
  'check that its tracker has power and a SIM card, and is set to send to this server':
    'prüfen, ob der Tracker Strom und SIM-Karte hat und an diesen Server senden soll',
  '{} vans': '{1} Fahrzeuge',
  'each of {} vans': 'jedes von {1} Fahrzeugen',
}

const SERVICE = {
  'the tracking service has lost {} of company {}, on {}': 'dem Tracking-Dienst fehlen {1} der Firma {2}, auf {3}',
  'the tracking service has lost positions': 'dem Tracking-Dienst fehlen Positionen',
  'tell who runs the tracking service what is missing, and who runs this server to send it once more':
    'dem Betreiber des Tracking-Dienstes sagen, was fehlt, und dem Betreiber dieses Servers, es noch einmal zu senden',
  'the tracking service refuses the password of company {}': 'der Tracking-Dienst lehnt das Passwort der Firma {1} ab',
  'company {} has no password for the tracking service': 'Firma {1} hat kein Passwort für den Tracking-Dienst',
  'the tracking service refuses the password of a company': 'der Tracking-Dienst lehnt das Passwort einer Firma ab',
  'tell who runs this server to set the right password; what was refused is kept, and is then sent again':
    'dem Betreiber dieses Servers sagen, dass er das richtige Passwort setzt; Abgelehntes ist aufgehoben und wird dann erneut gesendet',
  'the tracking service refuses positions of company {}': 'der Tracking-Dienst lehnt Positionen der Firma {1} ab',
  'the tracking service refuses courier {} on route {}': 'der Tracking-Dienst lehnt Fahrer {1} auf Tour {2} ab',
  'the tracking service refuses positions of some routes': 'der Tracking-Dienst lehnt Positionen einiger Touren ab',
  'check courier and route, here or in the tracking service; what was refused is kept, and can be sent again':
    'Fahrer und Tour prüfen, hier oder im Tracking-Dienst; Abgelehntes ist aufgehoben und kann erneut gesendet werden',
  'the tracking service refuses positions: they are kept':
    'der Tracking-Dienst lehnt Positionen ab: sie sind aufgehoben',
  'the tracking service refuses positions of courier {} on route {}: they are kept':
    'der Tracking-Dienst lehnt Positionen von Fahrer {1} auf Tour {2} ab: sie sind aufgehoben',
  'tell who runs the tracking service what its answer says': 'dem Betreiber des Tracking-Dienstes dessen Antwort sagen',
  'the tracking service refuses the login of company {}: its orders and numbers are not passed on':
    'der Tracking-Dienst lehnt die Anmeldung der Firma {1} ab: ihre Aufträge und Nummern werden nicht weitergegeben',
  'the tracking service refuses the login of a company: its orders and numbers are not passed on':
    'der Tracking-Dienst lehnt die Anmeldung einer Firma ab: ihre Aufträge und Nummern werden nicht weitergegeben',
  'tell who runs this server to set a new login':
    'dem Betreiber dieses Servers sagen, dass er eine neue Anmeldung setzt',
  'the tracking service {}': 'der Tracking-Dienst {1}',
  'answers with the error {}': 'antwortet mit dem Fehler {1}',
  'cannot be found': 'ist nicht zu finden',
  'does not prove who it is': 'kann sich nicht ausweisen',
  'the tracking service is down': 'der Tracking-Dienst ist gestört',
  'tell who runs the tracking service; nothing is lost: positions wait, and are delivered once it answers again':
    'dem Betreiber des Tracking-Dienstes sagen; nichts geht verloren: Positionen warten und werden zugestellt, sobald er wieder antwortet',
  'tell who runs this server: the address of the tracking service may be wrong':
    'dem Betreiber dieses Servers sagen: die Adresse des Tracking-Dienstes ist vielleicht falsch',
  'tell who runs this server: the network to the tracking service is interrupted':
    'dem Betreiber dieses Servers sagen: das Netz zum Tracking-Dienst ist unterbrochen',
  'tell who runs this server and the tracking service': 'den Betreibern dieses Servers und des Tracking-Dienstes sagen',
  'something else answers in place of the tracking service': 'statt des Tracking-Dienstes antwortet etwas anderes',
  'tell who runs this server; nothing is lost: positions wait, and are delivered once the tracking service itself answers':
    'dem Betreiber dieses Servers sagen; nichts geht verloren: Positionen warten und werden zugestellt, sobald der Tracking-Dienst selbst antwortet',
  'the tracking service does not answer': 'der Tracking-Dienst antwortet nicht',
  'the tracking service answers slowly: positions arrive late':
    'der Tracking-Dienst antwortet langsam: Positionen kommen verspätet an',
  'tell who runs the tracking service': 'dem Betreiber des Tracking-Dienstes sagen',
  'the tracking service is asked too often: positions arrive late':
    'der Tracking-Dienst wird zu oft gefragt: Positionen kommen verspätet an',
  'positions wait for longer than a minute, though the tracking service answers':
    'Positionen warten länger als eine Minute, obwohl der Tracking-Dienst antwortet',
  'positions wait: this server is set to send too few at once':
    'Positionen warten: dieser Server ist so eingestellt, dass er zu wenige zugleich sendet',
}

const SERVER = {
  'a line of the roster is left out': 'eine Zeile des Tourenplans ist weggelassen',
  '{} lines of the roster are left out': '{1} Zeilen des Tourenplans sind weggelassen',
  'look under Roster at the lines that are left out, correct them, and give it again':
    'unter Tourenplan die weggelassenen Zeilen ansehen, sie berichtigen und ihn erneut geben',
  'a roster file is older than what was given before: it is not in effect':
    'eine Datei des Tourenplans ist älter als das, was vorher kam, und gilt nicht',
  'the roster of {} cannot be read: its routes stay as they were':
    'der Tourenplan von {1} ist nicht zu lesen: seine Touren bleiben, wie sie waren',
  'tell who runs this server, or give the roster of today, under Roster':
    'es dem Betreiber dieses Servers sagen oder unter Tourenplan den von heute geben',
  'the roster of {} is refused: its routes stay as they were':
    'der Tourenplan von {1} ist abgelehnt: seine Touren bleiben, wie sie waren',
  'correct the roster in that system, or give the roster of today, under Roster':
    'den Tourenplan in jenem System berichtigen oder unter Tourenplan den von heute geben',
  'give the roster of today, under Roster': 'unter Tourenplan den von heute geben',
  'this server cannot store anything: no position is taken':
    'dieser Server kann nichts speichern: keine Position wird angenommen',
  'a copy of the data is missing: no position is acknowledged':
    'eine Kopie der Daten fehlt: keine Position wird bestätigt',
  'the memory of this server is used up: no position is taken':
    'der Speicher dieses Servers ist belegt: keine Position wird angenommen',
  'what some trackers send cannot be stored': 'was manche Tracker senden, kann nicht gespeichert werden',
  'this server cannot tidy up what it stores: that grows until the disk is full':
    'dieser Server kann nicht aufräumen, was er speichert: das wächst, bis die Platte voll ist',
  'the disk of this server is full, or nearly: soon no position can be taken':
    'die Platte dieses Servers ist voll oder fast voll: bald kann keine Position mehr angenommen werden',
  'the tracking service has refused so many positions that vans with refused ones are not answered':
    'der Tracking-Dienst hat so viele Positionen abgelehnt, dass Fahrzeuge mit abgelehnten keine Antwort bekommen',
  'no tracker can send anything: a part of this server does not run':
    'kein Tracker kann etwas senden: ein Teil dieses Servers läuft nicht',
  'nothing is sent to the tracking service: a part of this server does not run':
    'nichts wird an den Tracking-Dienst gesendet: ein Teil dieses Servers läuft nicht',
  'a part of this server does not run: its work goes to others':
    'ein Teil dieses Servers läuft nicht: seine Arbeit geht an andere',
  'a part of this server ends again and again': 'ein Teil dieses Servers endet immer wieder',
  'the clock of this server is in doubt: positions that seem too new or too old are held back':
    'die Uhr dieses Servers geht vielleicht falsch: Positionen, die zu neu oder zu alt scheinen, werden zurückgehalten',
  'received positions and where they are do not add up':
    'die Summe der empfangenen Positionen und ihr Verbleib stimmen nicht überein',
  'so many trackers without a name send that further ones are refused':
    'so viele Tracker ohne Namen senden, dass weitere abgewiesen werden',
  'name those that are yours under Arrivals': 'eigene unter Ankünfte benennen',
  'the file {} is refused: what was in effect before stays in effect':
    'die Datei {1} wird abgelehnt: was vorher galt, gilt weiter',
  'tell who runs this server what the details say': 'dem Betreiber dieses Servers sagen, was in den Einzelheiten steht',
  'tell who runs this server: it has to be started again':
    'dem Betreiber dieses Servers sagen: er muss neu gestartet werden',
  'this server stores slowly': 'dieser Server speichert langsam',
  'a part of this server reacts late: {}': 'ein Teil dieses Servers reagiert spät: {1}',
  'tell who runs this server, if it comes again': 'kommt es wieder, dem Betreiber dieses Servers sagen',
  'tell who runs this server: the networks that send so much can be blocked':
    'dem Betreiber dieses Servers sagen: die Netze, aus denen so viel kommt, lassen sich sperren',
  'tell who runs this server: the senders can be blocked':
    'dem Betreiber dieses Servers sagen: die Absender lassen sich sperren',
  'nearly all connections are taken that this server may have':
    'fast alle Verbindungen, die dieser Server haben darf, sind belegt',
  'this server would lose positions if it broke down': 'dieser Server würde Positionen verlieren, wenn er ausfiele',
  'the memory of this server has no limit: a part of it may be ended':
    'der Speicher dieses Servers hat keine Grenze: ein Teil von ihm wird womöglich beendet',
  'another system, {}, does not get the positions': 'ein anderes System, {1}, bekommt die Positionen nicht',
  'another system, {}, has not taken positions for so long that it misses the oldest':
    'ein anderes System, {1}, nimmt schon so lange keine Positionen an, dass ihm die ältesten fehlen',
  'another system, {}, refuses positions': 'ein anderes System, {1}, weist Positionen ab',
  '{} is not told what is wrong': '{1} erfährt nicht, was gestört ist',
  'the tracking service does not answer courier {} on route {}, and answers others':
    'der Tracking-Dienst antwortet Fahrer {1} auf Tour {2} nicht, anderen schon',
  'the tracking service does not answer some couriers of company {}, and answers others':
    'der Tracking-Dienst antwortet einigen Fahrern von Firma {1} nicht, anderen schon',
  'the tracking service does not answer some couriers, and answers others':
    'der Tracking-Dienst antwortet einigen Fahrern nicht, anderen schon',
  'tell who runs this server': 'dem Betreiber dieses Servers sagen',
  'tell who runs the old system': 'dem Betreiber des alten Systems sagen',
  'the old system does not answer: vans that still speak to it by way of {} are cut off':
    'das alte System antwortet nicht: Fahrzeuge, die noch über {1} mit ihm sprechen, sind abgeschnitten',
  'tell who runs this server at once': 'sofort dem Betreiber dieses Servers sagen',
  'tell who runs this server: it is a fault of waybridge':
    'dem Betreiber dieses Servers sagen: es ist ein Fehler von waybridge',
}

export const PLAIN = { ...PROBLEMS, ...ACTIONS, ...SERVICE, ...SERVER }
