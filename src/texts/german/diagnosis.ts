/* Findings with their evidence, links and explanations. */

/** Causes and actions: one text for each code; several if the tracking API or a file is named. */
const FINDINGS = {
  'the fixes of {} are ahead of our clock: they are not delivered':
    'die Positionen von {1} liegen in der Zukunft: sie werden nicht zugestellt',
  'set time_zone for the device in devices.yaml if it reports local time; otherwise set the clock of the device':
    'meldet das Gerät Ortszeit, in devices.yaml seine time_zone setzen; sonst die Uhr des Geräts stellen',
  'the clock of a gateway is in doubt: fixes that seem too new or too old are held':
    'die Uhr eines Gateways geht vielleicht falsch: Positionen, die zu neu oder zu alt scheinen, werden gehalten',
  'set the clock of the machine and keep it synchronised (NTP)':
    'die Uhr des Rechners stellen und synchron halten (NTP)',
  'so many fixes of {} are held that the oldest are discarded':
    'von {1} werden so viele Positionen gehalten, dass die ältesten verworfen werden',
  'fixes of {} were held for as long as hold.max_age, and are discarded':
    'Positionen von {1} wurden so lange gehalten, wie hold.max_age erlaubt, und werden verworfen',
  'see in `why` what holds its fixes: give it a route, correct its clock, or deliver them: waybridge release':
    'in `why` nachsehen, was seine Positionen hält: ihm eine Tour geben, seine Uhr stellen, oder sie zustellen: waybridge release',
  'fixes of devices that are not configured are refused: what may be held of such devices is used up':
    'Positionen nicht eingerichteter Geräte werden abgewiesen: was von solchen gehalten werden darf, ist aufgebraucht',
  'positions by the protocol {} name no device: they are not taken':
    'Positionen im Protokoll {1} nennen kein Gerät: sie werden nicht angenommen',
  'set the id (the IMEI) in the tracker that the evidence names, or have it log in first':
    'im Gerät, das der Beleg nennt, die Kennung (die IMEI) setzen, oder es sich zuerst anmelden lassen',
  'what comes to {} does not speak TLS: nothing of it is taken':
    'was an {1} kommt, spricht kein TLS: nichts davon wird angenommen',
  'if it is a tracker, switch on its TLS, or set a port without TLS in it':
    'ist es ein Gerät, sein TLS einschalten oder einen Port ohne TLS in ihm setzen',
  '{} over {} from {}': '{1} über {2} von {3}',
  'add the devices that are yours to devices.yaml, or set hold.unknown: false':
    'eigene Geräte in devices.yaml eintragen oder hold.unknown: false setzen',
  'the marks that recognise duplicates of {} have reached their limit: duplicates may be pushed':
    'die Merkmale, an denen Wiederholungen von {1} erkannt werden, sind an ihrer Grenze: Wiederholungen werden vielleicht gesendet',
  'find out who sends so many different times for the device; give it a secret':
    'klären, wer für das Gerät so viele verschiedene Zeiten sendet; ihm ein Geheimnis geben',
  'too many positions are parked: devices on lanes with parked positions are not acknowledged':
    'zu viele Positionen sind geparkt: Geräte auf deren Spuren bekommen keine Antwort',
  'correct what the tracking API refuses and retry, or delete the parked positions':
    'beheben, was die Tracking-API ablehnt, und erneut versuchen, oder die geparkten Positionen löschen',
  'the memory of Redis is used up to its stop mark: nothing is acknowledged':
    'der Speicher von Redis ist bis zur Grenze belegt: kein Gerät bekommt eine Antwort',
  'find out why the tracking API does not take what waits, or raise redis.max_memory, or maxmemory of a Redis of your own':
    'klären, warum die Tracking-API nicht nimmt, was wartet, oder redis.max_memory erhöhen, bei einem eigenen Redis maxmemory',
  'frames are not acknowledged because they cannot be stored':
    'Datenpakete können nicht gespeichert werden und bleiben ohne Antwort',
  'by the reason in the evidence, for redis or roster: see that Redis runs and its disk is quick; for memory or parked: let what waits be delivered, or retry what was refused; for misunderstood or fault: see the log of the gateway':
    'je nach dem Grund im Beleg, bei redis oder roster: nachsehen, ob Redis läuft und seine Platte schnell ist; bei memory oder parked: Wartendes zustellen lassen oder Abgelehntes neu versuchen; bei misunderstood oder fault: das Log des Gateways ansehen',
  '{} sends positions that are not understood: the frames are kept as they came':
    '{1} sendet Positionen, die nicht verstanden werden: die Datenpakete bleiben, wie sie kamen, aufbewahrt',
  'they are decoded again after an upgrade, or when the entry of the device changes: check its model, settings and protocol, and report the frames in the evidence':
    'nach einer neuen Version oder einer Änderung seines Eintrags werden sie erneut gelesen: model, settings und protocol des Eintrags prüfen und die Datenpakete der Belege melden',
  'calls to Redis are slow': 'Aufrufe von Redis sind langsam',
  'check the disk and the load of the machine that Redis runs on':
    'Platte und Last des Rechners prüfen, auf dem Redis läuft',
  '{} reacts late: its event loop is delayed': '{1} reagiert verspätet',
  'check the load of the machine; if a sender causes it, the other findings name it':
    'die Last des Rechners prüfen; ist ein Sender die Ursache, nennen ihn die anderen Befunde',
  'senders take more than their share: the rest is read later, or dropped':
    'Sender beanspruchen mehr als ihren Anteil: der Rest wird später gelesen oder fällt weg',
  'block the networks in the evidence in your firewall if they are not yours':
    'die Netze der Belege in der Firewall sperren, wenn es keine eigenen sind',
  'so much comes that nobody understands that new senders are found out late, or not at all':
    'so viel Unverständliches trifft ein, dass neue Absender spät oder gar nicht erkannt werden',
  'block the senders in the evidence in your firewall if they are not yours; give your devices the port of their protocol':
    'die Absender der Belege in der Firewall sperren, wenn es keine eigenen sind; eigenen Geräten den Port ihres Protokolls geben',
  'the limit of open connections is reached: new ones are refused, or replace those without an identity':
    'die Grenze offener Verbindungen ist erreicht: neue werden abgewiesen oder ersetzen solche ohne Kennung',
  'block the networks in the evidence if they are not yours, or raise limits.max_connections':
    'die Netze der Belege sperren, wenn es keine eigenen sind, oder limits.max_connections erhöhen',
  'more connections than limits.max_connections_per_device use the id of {}: one of the network with most of them is closed, first one without a fix':
    'mehr Verbindungen, als limits.max_connections_per_device erlaubt, melden sich mit der Kennung von {1}: eine aus dem Netz mit den meisten davon wird geschlossen, zuerst eine ohne Position',
  'find out who else uses the id of the device; give it a secret or networks':
    'klären, wer die Kennung des Geräts noch benutzt; ihm ein Geheimnis oder Netze geben',
  'all connections to {} come from one address: limits by address apply to all together':
    'alle Verbindungen zu {1} kommen von einer Adresse: Grenzen je Adresse gelten für alle zusammen',
  'if a load balancer is in front, set proxy_protocol: true and trusted_proxies':
    'steht ein Lastverteiler davor, proxy_protocol: true und trusted_proxies setzen',
  'nearly all connections are taken that the limit of open files allows':
    'fast alle Verbindungen sind belegt, die die Grenze offener Dateien erlaubt',
  'raise the limit of open files (ulimit -n, or LimitNOFILE in the systemd unit)':
    'die Grenze offener Dateien erhöhen (ulimit -n, oder LimitNOFILE in der Unit von systemd)',
  'somebody guesses the secret of {}: until it presents the right one, those from that network wait longer and longer':
    'jemand rät das Geheimnis von {1}: bis es das richtige zeigt, warten die aus diesem Netz immer länger',
  'block the networks in the evidence in your firewall; if it is the device itself, set the same secret in it and in devices.yaml':
    'die Netze der Belege in der Firewall sperren; ist es das Gerät selbst, in ihm und in devices.yaml dasselbe Geheimnis setzen',
  '{} presents a wrong secret, or none, and is treated like a device that is not configured':
    '{1} zeigt ein falsches oder kein Geheimnis und gilt als nicht eingerichtet',
  'set the same secret in the device and in its entry (devices.yaml)':
    'im Gerät und in seinem Eintrag (devices.yaml) dasselbe Geheimnis setzen',
  '{} came in a way that devices.yaml does not allow, and is treated like a device that is not configured':
    '{1} kam auf einem Weg, den devices.yaml nicht erlaubt, und gilt als nicht eingerichtet',
  'see the evidence; correct protocol, transports, networks or client_certificate of the device if it is yours':
    'siehe die Belege; protocol, transports, networks oder client_certificate des Geräts berichtigen, wenn es Ihres ist',
  'two senders use the id of {}, or its address over UDP':
    'Zwei Absender benutzen die Kennung von {1}, oder über UDP dessen Adresse',
  'find out which sender is the real one; give the device a secret, networks or a client certificate':
    'klären, welcher Sender der echte ist; dem Gerät ein Geheimnis, Netze oder ein Zertifikat geben',
  '{} moved faster than a vehicle can': '{1} bewegte sich schneller, als ein Fahrzeug es kann',
  'compare the positions in the evidence; if they are not its own, give the device a secret':
    'die Positionen der Belege vergleichen; sind es nicht seine eigenen, dem Gerät ein Geheimnis geben',
  'the certificate of {} ends soon, or has ended': 'das Zertifikat von {1} läuft bald ab oder ist abgelaufen',
  'renew the certificate; the new files are used without a restart':
    'das Zertifikat erneuern; die neuen Dateien gelten ohne Neustart',
  'the new certificate files of {} cannot be used: the earlier ones stay in effect':
    'die neuen Zertifikatsdateien von {1} sind nicht brauchbar: die bisherigen gelten weiter',
  'correct the files named in the evidence': 'die Dateien berichtigen, die in den Belegen stehen',
  'the enrolment window is open: devices that are not configured are admitted':
    'die Anmeldung ist offen: nicht eingerichtete Geräte werden zugelassen',
  'nothing to do: it closes by itself': 'nichts zu tun: sie schließt von selbst',
  '{}, on a route now, sends to a port that does not understand it: nothing of it is taken':
    '{1}, jetzt mit Tour, sendet an einen Port, der es nicht versteht: nichts davon wird angenommen',
  'set the port of its protocol in the device, or add a listener for all protocols (protocol auto) to listeners in gateway.yaml':
    'im Gerät den Port seines Protokolls setzen oder in gateway.yaml unter listeners einen für alle Protokolle (protocol auto) eintragen',
  'it seems to speak {}, for which there is no listener: add one to listeners in gateway.yaml, and set its port in the device':
    'es spricht wohl {1}, wofür es keinen Port gibt: in gateway.yaml unter listeners einen eintragen und ihn im Gerät setzen',
  'is it {}, whose id in {} {}? If so, correct the id there; otherwise name it under Arrivals or in devices.yaml if it is yours':
    'ist es {1}, dessen Kennung in {2} {3}? Dann die Kennung dort berichtigen; sonst das Gerät unter Ankünfte oder in devices.yaml benennen, wenn es ein eigenes ist',
  'has two digits swapped': 'zwei vertauschte Ziffern hat',
  'has one other digit, and a wrong check digit': 'eine andere Ziffer und eine falsche Prüfziffer hat',
  'has one digit less': 'eine Ziffer weniger hat',
  'set time_zone: "{}" for {}, or have the device report UTC':
    'time_zone: "{1}" setzen für {2}, oder das Gerät UTC melden lassen',
  'remove the time_zone of {}, or set that of the device':
    'die time_zone von {1} entfernen, oder die des Geräts stellen',
  '{} at {}': '{1} in {2}',
  'its last line, {}, ended {}': 'seine letzte Zeile, {1}, endete {2}',
  'it seems to speak {}: set port {} in the device': 'es spricht wohl {1}: im Gerät den Port {2} setzen',
  '{} sends to the port of another protocol; its fixes are taken all the same':
    '{1} sendet an den Port eines anderen Protokolls; seine Positionen werden trotzdem angenommen',
  'set the port that the evidence names in the device': 'im Gerät den Port setzen, den die Belege nennen',
  'the default port of {} is taken: no tracker can connect to it':
    'der übliche Port von {1} ist belegt: kein Tracker kann sich dort verbinden',
  'end the program that has the port, or list the ports that you need in listeners (gateway.yaml)':
    'das Programm beenden, das den Port hat, oder die nötigen Ports in listeners (gateway.yaml) aufzählen',
  'the connection is refused: no broker listens there': 'die Verbindung wird abgewiesen: dort ist kein Broker',
  'the name of the broker cannot be resolved': 'der Name des Brokers ist unbekannt',
  'the broker cannot be reached': 'der Broker ist nicht erreichbar',
  'the broker ended the connection': 'der Broker hat die Verbindung beendet',
  'the broker does not answer': 'der Broker antwortet nicht',
  'the broker does not answer any more': 'der Broker antwortet nicht mehr',
  'the broker sends what is not MQTT': 'der Broker sendet, was kein MQTT ist',
  'the broker sends a message above 1 MB': 'der Broker sendet eine Nachricht über 1 MB',
  'the broker sends {} unasked': 'der Broker sendet ungefragt {1}',
  'the broker grants {} QoS 0 only: messages may be lost':
    'der Broker gewährt {1} nur QoS 0: Nachrichten können verloren gehen',
  'the connection failed: {}': 'die Verbindung scheiterte: {1}',
  'without a known reason': 'ohne bekannten Grund',
  'it does not speak this version of MQTT: set version': 'er spricht diese Version von MQTT nicht: version setzen',
  'the client id is not accepted': 'die Client-ID wird nicht angenommen',
  'it is not available': 'er ist nicht verfügbar',
  'wrong user name or password': 'falscher Benutzername oder falsches Passwort',
  'not authorised': 'keine Berechtigung',
  'unspecified error': 'nicht genannter Fehler',
  'it is busy': 'er ist ausgelastet',
  'this client is banned': 'dieser Client ist gesperrt',
  'it is shutting down': 'er wird beendet',
  'it heard nothing of us in time': 'er hörte nicht rechtzeitig von uns',
  'another client connects with the same client id': 'ein anderer Client verbindet sich mit derselben Client-ID',
  'it does not accept the topic': 'er nimmt das Topic nicht an',
  'a quota is exceeded': 'ein Kontingent ist überschritten',
  'use another broker': 'einen anderen Broker verwenden',
  'the broker has moved': 'der Broker ist umgezogen',
  'it does not support shared subscriptions': 'er kennt keine geteilten Abonnements',
  'too many connections in this time': 'zu viele Verbindungen in dieser Zeit',
  'it does not support wildcards': 'er kennt keine Platzhalter',
  'the certificate of the broker has expired': 'das Zertifikat des Brokers ist abgelaufen',
  'the certificate of the broker is for another host than the url names':
    'das Zertifikat des Brokers gilt für einen anderen Host als den der url',
  'the certificate of the broker is not trusted: set tls.ca':
    'dem Zertifikat des Brokers wird nicht vertraut: tls.ca setzen',
  'the broker wants another client certificate: set tls.cert and key':
    'der Broker verlangt ein anderes Client-Zertifikat: tls.cert und key setzen',
  'the broker speaks no TLS at this port': 'der Broker spricht an diesem Port kein TLS',
  'the broker refuses the login: {}': 'der Broker lehnt die Anmeldung ab: {1}',
  'the broker refuses the subscription {}: {}': 'der Broker lehnt das Abonnement {1} ab: {2}',
  'the broker ended the session: {}': 'der Broker hat die Sitzung beendet: {1}',
  'the old server behind the trial on {} cannot be reached: trackers that it answers get nothing':
    'der alte Server hinter dem Probebetrieb auf {1} ist nicht erreichbar: Tracker, denen er antwortet, bekommen nichts',
  'start the old server, or correct host and port of the trial in gateway.yaml; without trial we answer ourselves':
    'den alten Server starten, oder Host und Port von trial in gateway.yaml berichtigen; ohne trial antworten wir selbst',
  'on trial: the old server answers it, and its positions are not pushed from here':
    'im Probebetrieb: der alte Server antwortet ihm, und seine Positionen werden von hier nicht zugestellt',
  'no tracker has come by way of the trial yet': 'noch kam kein Tracker über den Probebetrieb',
  '{} of {} devices understood': '{1} von {2} Geräten verstanden',
  '{} device without a position yet': '{1} Gerät noch ohne Position',
  '{} devices without a position yet': '{1} Geräte noch ohne Position',
  'no answer compared yet': 'noch keine Antwort verglichen',
  'all answers equal': 'alle Antworten gleich',
  '{} % of answers equal': '{1} % der Antworten gleich',
  '{} device differs: look': '{1} Gerät weicht ab: ansehen',
  '{} devices differ: look': '{1} Geräte weichen ab: ansehen',
  '{} does not get what devices publish at its broker':
    '{1} bekommt nicht, was Geräte bei ihrem Broker veröffentlichen',
  'see the evidence: start the broker, or correct the entry of the bridge in mqtt.bridges (gateway.yaml)':
    'siehe Belege: den Broker starten, oder den Eintrag der Brücke in mqtt.bridges (gateway.yaml) berichtigen',
  'Redis does not answer: nothing is stored and nothing acknowledged':
    'Redis antwortet nicht: nichts wird gespeichert, und kein Gerät bekommt eine Antwort',
  'see the evidence and the log of Redis: start it again, free its disk, or correct redis in gateway.yaml; trackers keep what is not acknowledged':
    'siehe die Belege und das Protokoll von Redis: Redis wieder starten, Platz schaffen oder redis in gateway.yaml berichtigen; Tracker behalten, was ohne Antwort blieb',
  'Redis has no maxmemory: it may be killed before redis.stop_at is reached':
    'Redis hat kein maxmemory: es wird vielleicht beendet, bevor redis.stop_at erreicht ist',
  'set maxmemory in redis.conf of each server, to at most half of the memory that it may use':
    'maxmemory in der redis.conf jedes Servers setzen, auf höchstens die Hälfte des Speichers, den er belegen darf',
  'redis.stop_at counts as a share of the {} GiB of its machine':
    'redis.stop_at zählt als Anteil an den {1} GiB seines Rechners',
  'replicas of Redis are missing: nothing is acknowledged':
    'Replikate von Redis fehlen: kein Gerät bekommt eine Antwort',
  'start the missing replica, or take a lost one out of redis.replicas and min-replicas-to-write':
    'das fehlende Replikat starten oder ein verlorenes aus redis.replicas und min-replicas-to-write nehmen',
  'Redis does not keep what it acknowledges: a crash would lose fixes':
    'Redis bewahrt nicht sicher auf, was es bestätigt: bei einem Absturz gingen Positionen verloren',
  'see the evidence: correct these settings in redis.conf of each server, or redis in gateway.yaml':
    'siehe Belege: diese Einstellungen in redis.conf jedes Servers oder redis in gateway.yaml berichtigen',
  'the disk of Redis is full, or nearly: soon nothing can be acknowledged':
    'die Platte von Redis ist voll oder fast voll: bald bekommt kein Gerät mehr eine Antwort',
  'free space on the disk that the evidence names, or enlarge it':
    'auf der Platte, die die Belege nennen, Platz schaffen, oder sie vergrößern',
  'no gateway gives a sign of life: no tracker can send anything':
    'kein Gateway gibt ein Lebenszeichen: kein Tracker kann etwas senden',
  'start a gateway, or end the one that is frozen (start runs another one); its log says why it does not start':
    'ein Gateway starten, oder das angehaltene beenden (start startet ein neues); warum es nicht startet, sagt sein Protokoll',
  'no worker gives a sign of life: nothing is pushed':
    'kein Worker gibt ein Lebenszeichen: nichts wird an die Tracking-API gesendet',
  'start a worker, or end the one that is frozen (start runs another one); its log says why it does not start':
    'einen Worker starten, oder den angehaltenen beenden (start startet einen neuen); warum er nicht startet, sagt sein Protokoll',
  '{} gives no sign of life: its lanes go to other workers':
    '{1} gibt kein Lebenszeichen: seine Spuren gehen an andere Worker',
  'continue or end the process; start runs another one in its place':
    'den Prozess fortsetzen oder beenden; start setzt einen anderen an seine Stelle',
  '{} ends again and again, and is started anew': '{1} endet immer wieder und wird neu gestartet',
  'see its log for why it ends': 'in seinem Protokoll sehen, warum er endet',
  'the tracking API is down': 'die Tracking-API ist gestört',
  'see the evidence; nothing is lost: everything waits and is delivered once the API answers again':
    'siehe die Belege; nichts geht verloren: alles wartet und wird zugestellt, sobald die API wieder antwortet',
  'something else answers in place of the tracking API': 'statt der Tracking-API antwortet etwas anderes',
  'what answers at {} is not the tracking API': 'was unter {1} antwortet, ist nicht die Tracking-API',
  'correct tracking.base_url (or push_url), or what is in between: a proxy, a firewall, a login page of the network; nothing is lost: everything waits and is delivered once the API itself answers':
    'tracking.base_url (oder push_url) berichtigen, oder was dazwischen steht: ein Proxy, eine Firewall, eine Anmeldeseite des Netzes; nichts geht verloren: alles wartet und wird zugestellt, sobald die API selbst antwortet',
  'the tracking API does not answer a few lanes, and answers others':
    'die Tracking-API beantwortet einige Spuren nicht, andere schon',
  'the tracking API does not answer courier {} on route {}, and answers others':
    'die Tracking-API antwortet Kurier {1} auf Route {2} nicht, anderen schon',
  'the tracking API does not answer {} lanes of company {}, and answers others':
    'die Tracking-API beantwortet {1} Spuren der Firma {2} nicht, andere schon',
  'tell who runs the tracking API which couriers and routes get no answer; nothing is lost: their positions wait and are delivered once it answers':
    'dem Betreiber der Tracking-API sagen, welche Kuriere und Routen keine Antwort bekommen; nichts geht verloren: ihre Positionen warten und werden zugestellt, sobald sie antwortet',
  'the tracking API refuses positions of courier {} on route {}: they are parked':
    'die Tracking-API lehnt Positionen von Kurier {1} auf Route {2} ab: sie sind geparkt',
  'no answer since {}: {}': 'keine Antwort seit {1}: {2}',
  'other lanes answered since: at least {}': 'seither beantwortete andere Spuren: mindestens {1}',
  'its lane has got no answer since {}': 'seine Spur hat seit {1} keine Antwort bekommen',
  '{}: the service does not answer its lane since {}': '{1}: der Dienst beantwortet seine Spur seit {2} nicht',
  '{} of {} vans {} fell silent within {} s': '{1} von {2} Fahrzeugen {3} verstummten innerhalb von {4} s',
  '{} of {} vans fell silent within {} s': '{1} von {2} Fahrzeugen verstummten innerhalb von {3} s',
  'at port': 'an Port',
  'that speak': 'mit dem Protokoll',
  'at the gateway': 'am Gateway',
  'of company': 'der Firma',
  'of the model': 'des Modells',
  'from the network': 'aus dem Netz',
  'heard last between {} and {}': 'zuletzt gehört zwischen {1} und {2}',
  'other vans: {} of {} fell silent then': 'andere Fahrzeuge: {1} von {2} verstummt',
  'nothing that is known of them sets them apart from the others':
    'nichts, was von ihnen bekannt ist, unterscheidet sie von den anderen',
  '{} van is silent still': '{1} Fahrzeug ist noch stumm',
  '{} vans are silent still': '{1} Fahrzeuge sind noch stumm',
  'check the way to this port: the firewall, the port forwarding, a load balancer in front of it':
    'den Weg zu diesem Port prüfen: Firewall, Portweiterleitung, ein Load Balancer davor',
  'check the way to the port of this protocol, and what was changed in all these trackers':
    'den Weg zum Port dieses Protokolls prüfen, und was an allen diesen Geräten geändert wurde',
  'check this machine and its network; ending the gateway lets its trackers connect elsewhere':
    'diesen Rechner und sein Netz prüfen; wird das Gateway beendet, verbinden sich seine Geräte anderswo',
  'ask the company what it has changed: the SIM contract, the APN, or the address in its trackers':
    'die Firma fragen, was sie geändert hat: den SIM-Vertrag, den APN oder die Adresse in ihren Geräten',
  'ask the maker of the trackers, and whoever sends them settings or new firmware':
    'den Hersteller der Geräte fragen, und wer ihnen Einstellungen oder neue Firmware schickt',
  'ask the operator of this network, and check that no firewall blocks it':
    'den Betreiber dieses Netzes fragen und prüfen, dass keine Firewall es sperrt',
  'it fell silent together with others': 'es verstummte zugleich mit anderen',
  'but nothing comes from it any more': 'aber es kommt nichts mehr von ihm',
  'this fits them alone, too: {}': 'auch das trifft nur auf sie zu: {1}',
  '{} van that should send is not heard': '{1} Fahrzeug, das senden sollte, ist nicht zu hören',
  '{} vans that should send are not heard': '{1} Fahrzeuge, die senden sollten, sind nicht zu hören',
  'nothing is delivered: {}': 'nichts wird zugestellt: {1}',
  'many vans fell silent together': 'viele Fahrzeuge sind zugleich verstummt',
  'check what is between the trackers and this server: its address and port forwarding, the firewall, the mobile network':
    'prüfen, was zwischen den Geräten und diesem Server liegt: seine Adresse und Portweiterleitung, die Firewall, das Mobilfunknetz',
  'the tracking API takes requests and does not answer them':
    'die Tracking-API nimmt Anfragen an und beantwortet sie nicht',
  'tell who runs the tracking API; nothing is lost: everything waits and is delivered once it answers again':
    'den Betreiber der Tracking-API benachrichtigen; nichts geht verloren: alles wartet und wird zugestellt, sobald sie wieder antwortet',
  'the tracking API answers slowly: positions arrive late':
    'die Tracking-API antwortet langsam: Positionen kommen verspätet an',
  'the tracking API takes {} s for a request: positions arrive late':
    'die Tracking-API braucht {1} s für eine Anfrage: Positionen kommen verspätet an',
  'tell who runs the tracking API; a higher push.concurrency helps where each request is slow':
    'den Betreiber der Tracking-API benachrichtigen; ist jede Anfrage langsam, hilft eine höhere push.concurrency',
  'the tracking API limits our requests (429): positions arrive late':
    'die Tracking-API begrenzt unsere Anfragen (429): Positionen kommen verspätet an',
  'set push.max_requests_per_s (of an API of a company: its tracking.max_requests_per_s) to what the API allows, or ask for a higher limit':
    'push.max_requests_per_s (bei der API einer Firma: ihr tracking.max_requests_per_s) auf das setzen, was die API erlaubt, oder um eine höhere Grenze bitten',
  'the tracking API refuses an apikey': 'die Tracking-API lehnt einen apikey ab',
  'the tracking API refuses the apikey of company {} ({}): {} parked':
    'die Tracking-API lehnt den apikey der Firma {1} ab ({2}): {3} geparkt',
  'company {} has no apikey: {} parked': 'Firma {1} hat keinen apikey: {2} geparkt',
  'set the apikey of the company in gateway.yaml (companies): its parked lanes are tried again at once':
    'den apikey der Firma in gateway.yaml (companies) setzen: ihre geparkten Spuren werden sofort erneut versucht',
  'the tracking API refuses an OAuth token: orders and numbers are not relayed':
    'die Tracking-API lehnt ein OAuth-Token ab: Aufträge und Nummern werden nicht weitergegeben',
  'the tracking API refuses the OAuth token of company {}: orders and numbers are not relayed':
    'die Tracking-API lehnt das OAuth-Token der Firma {1} ab: Aufträge und Nummern werden nicht weitergegeben',
  'get a new oauth_token and set it in gateway.yaml (companies)':
    'ein neues oauth_token besorgen und in gateway.yaml (companies) setzen',
  'the tracking API refuses lanes': 'die Tracking-API lehnt Spuren ab',
  'the tracking API refuses {} of company {} ({})': 'die Tracking-API lehnt {1} der Firma {2} ab ({3})',
  'correct the courier or the route in the roster: the parked fixes go there at once; or correct them in the tracking API, then retry: waybridge parked retry':
    'Fahrer oder Tour im Tourenplan berichtigen: die geparkten Positionen gehen sofort dorthin; oder sie in der Tracking-API berichtigen und dann erneut versuchen: waybridge parked retry',
  'the tracking API does not have positions that it took': 'der Tracking-API fehlen Positionen, die sie angenommen hat',
  'the tracking API does not have {} of company {} that it took, on {}':
    'der Tracking-API fehlen {1} der Firma {2}, die sie angenommen hat, auf {3}',
  'tell who runs the tracking API what the evidence names; push them once more: waybridge verify --repair, or verify.repair in gateway.yaml':
    'dem Betreiber der Tracking-API sagen, was der Beleg nennt; sie noch einmal senden: waybridge verify --repair, oder verify.repair in gateway.yaml',
  '{} of {} compared, from {} to {}': '{1} von {2} verglichenen, von {3} bis {4}',
  '{} of these pushed once more, or queued for that': '{1} davon noch einmal gesendet oder dafür eingereiht',
  'company {} has no oauth_token in gateway.yaml': 'die Firma {1} hat kein oauth_token in gateway.yaml',
  'the tracking API does not answer: {}': 'die Tracking-API antwortet nicht: {1}',
  'the tracking API refuses to be read for company {}: {}':
    'die Tracking-API lässt sich für die Firma {1} nicht lesen: {2}',
  'the tracking API cannot be read back: it answers {}':
    'die Tracking-API lässt sich nicht zurücklesen: sie antwortet {1}',
  'the tracking API answers {}': 'die Tracking-API antwortet {1}',
  'the answer of the tracking API is not a whole list of positions':
    'die Antwort der Tracking-API ist keine vollständige Liste von Positionen',
  'the tracking API gives positions of other times than those that are asked for':
    'die Tracking-API gibt Positionen anderer Zeiten als der gefragten',
  'the company had another tracking API then': 'die Firma hatte da eine andere Tracking-API',
  'several couriers drove the route, and the tracking API may give the positions of one of them alone':
    'mehrere Fahrer fuhren die Tour, und die Tracking-API gibt vielleicht nur die Positionen von einem',
  'the tracking API refuses positions: they are parked': 'die Tracking-API lehnt Positionen ab: sie sind geparkt',
  'correct the cause that its answer names, then retry them: waybridge parked retry':
    'die Ursache beheben, die ihre Antwort nennt, dann erneut versuchen: waybridge parked retry',
  'positions wait for longer than a minute although the tracking API answers':
    'Positionen warten länger als eine Minute, obwohl die Tracking-API antwortet',
  'look at the queues (GET /admin/lanes): what a last push was answered is the cause of its lane; otherwise add workers, or raise push.concurrency':
    'den Rückstand ansehen (GET /admin/lanes): was die letzte Sendung einer Spur als Antwort bekam, ist ihre Ursache; sonst mehr workers oder eine höhere push.concurrency',
  'positions wait because concurrency allows no more requests at once':
    'Positionen warten, weil concurrency nicht mehr Anfragen zugleich erlaubt',
  'raise push.concurrency (of an API of a company: its tracking.concurrency): it must be the seconds that one request takes, times the lanes to push in a second':
    'push.concurrency (bei der API einer Firma: ihr tracking.concurrency) erhöhen: nötig sind die Sekunden, die eine Anfrage dauert, mal die Spuren, die in einer Sekunde zu senden sind',
  '{} requests at once, {} ms each: at most {} a second':
    '{1} Anfragen zugleich, je {2} ms: höchstens {3} in der Sekunde',
  'received fixes and where they are do not add up':
    'die Summe der empfangenen Positionen und ihr Verbleib stimmen nicht überein',
  'keep the data folder and report this: it is a fault of waybridge':
    'den Datenordner aufbewahren und dies melden: es ist ein Fehler von waybridge',
  'nothing is heard of {}, on a route now': 'von {1} ist nichts zu hören, jetzt auf Tour',
  'check its power and its SIM card; if it sleeps between messages, say how long in its entry: settings: { interval: 1h }':
    'Strom und SIM-Karte prüfen; schläft es zwischen den Meldungen, im Eintrag sagen, wie lange: settings: { interval: 1h }',
  'SOS from {}': 'SOS von {1}',
  'call the driver; if nobody answers, send help to its last position':
    'den Fahrer anrufen; antwortet niemand, Hilfe zur letzten Position schicken',
  'the power of {} was cut, says the tracker': 'der Strom von {1} wurde getrennt, sagt der Tracker',
  'ask the driver, and look after it: somebody may have disconnected the tracker or the battery; if that comes with each stop, wire the tracker to permanent power':
    'den Fahrer fragen und nachsehen: vielleicht hat jemand den Tracker oder die Batterie abgeklemmt; kommt das bei jedem Halt, den Tracker an Dauerstrom anschließen',
  'the battery of the tracker of {} is low': 'der Akku des Trackers von {1} ist fast leer',
  'charge it, or check what feeds it: nothing comes any more once the battery is empty':
    'ihn laden oder prüfen, was ihn speist: ist der Akku leer, kommt nichts mehr',
  'the signals of {} are jammed, says the tracker': 'die Signale von {1} werden gestört, sagt der Tracker',
  'ask the driver, and look after it: somebody near it may suppress radio or GPS to steal it':
    'den Fahrer fragen und nachsehen: vielleicht unterdrückt jemand in der Nähe Funk oder GPS, um es zu stehlen',
  'SOS, raised at {}': 'SOS, ausgelöst um {1}',
  'power cut, said at {}': 'Strom getrennt, gemeldet um {1}',
  'battery low, said at {}': 'Akku fast leer, gemeldet um {1}',
  'jamming, said at {}': 'Störsender, gemeldet um {1}',
  'came at {}': 'angekommen um {1}',
  'no new position comes from {}, though messages arrive': 'von {1} kommt keine neue Position, obwohl Meldungen kommen',
  'check the GPS antenna and where it is; under a roof there are no satellites':
    'die GPS-Antenne und ihren Ort prüfen; unter einem Dach sind keine Satelliten',
  'the times of {} are behind, always by the same': 'die Zeiten von {1} gehen nach, immer um gleich viel',
  'if a time_zone fits, add it to its entry in devices.yaml, or have the device report UTC; if none fits, set the clock of the device':
    'passt eine time_zone, sie in seinem Eintrag in devices.yaml ergänzen oder das Gerät auf UTC stellen; passt keine, die Uhr des Geräts stellen',
  'there is no route for the fixes of {}': 'für die Positionen von {1} gibt es keine Tour',
  'add a line to routes.csv, or assign a route: waybridge assign; held fixes of its time go there':
    'für jetzt eine Tour zuweisen (routes.csv oder waybridge assign): gehaltene Positionen gehen dorthin',
  'several vans send on one route: {}': 'mehrere Fahrzeuge senden auf einer Tour: {1}',
  'end the assignment of the van that does not drive the route: the positions of all are pushed':
    'die Tour des Fahrzeugs beenden, das sie nicht fährt: die Positionen aller werden gesendet',
  'fixes are held of {}, which nobody has configured': 'Positionen von {1} werden gehalten: von niemandem eingerichtet',
  'if it is yours, name it under Arrivals or in devices.yaml: its held fixes are then delivered':
    'ist es ein eigenes, unter Ankünfte oder in devices.yaml benennen: seine gehaltenen Positionen werden dann zugestellt',
  'frames of {} have a wrong checksum: they are not acknowledged':
    'Datenpakete von {1} haben eine falsche Prüfsumme: sie bleiben ohne Antwort',
  'update the firmware of the device, or look for what damages its frames on the way, such as a serial modem':
    'die Firmware des Geräts erneuern oder suchen, was seine Datenpakete unterwegs beschädigt, etwa ein serielles Modem',
  '{} is refused: what was in effect before it stays in effect': '{1} ist abgelehnt: was vorher galt, gilt weiter',
  'correct the file as the evidence says; where it would take routes and that is meant, write the lines with `waybridge routes put FILE --force`, or delete the devices through the admin port':
    'die Datei nach den Belegen berichtigen; würde sie Touren nehmen und ist das gewollt, die Zeilen mit `waybridge routes put FILE --force` schreiben oder die Geräte über den Admin-Port löschen',
  'settings of {} take effect at the next start only': 'Einstellungen in {1} gelten erst nach dem nächsten Start',
  'start waybridge again; meanwhile trackers keep what is not acknowledged':
    'waybridge neu starten; solange behalten die Geräte, was nicht bestätigt ist',
  'lines are left out of the roster': 'Zeilen des Tourenplans sind weggelassen',
  'a line of {} is left out of the roster': 'eine Zeile von {1} ist im Tourenplan weggelassen',
  '{} lines of {} are left out of the roster': '{1} Zeilen von {2} sind im Tourenplan weggelassen',
  'correct the lines in the evidence, and write the roster again':
    'die Zeilen der Belege berichtigen und den Tourenplan erneut schreiben',
  'positions of {} went to another route than the roster says now':
    'Positionen von {1} gingen an eine andere Tour, als der Plan jetzt sagt',
  '{}, by lines that {} has replaced': '{1}, nach Zeilen, die {2} ersetzt hat',
  'keep.delivered is {}': 'keep.delivered ist {1}',
  'deliver them to their route as well: the button of this finding, or waybridge redeliver; the route that has them keeps them':
    'sie auch ihrer Tour zustellen: mit dem Knopf bei dieser Meldung oder waybridge redeliver; die Tour, die sie hat, behält sie',
  'delivered fixes are kept for {} only: they take as much memory as they may':
    'zugestellte Positionen werden nur {1} aufbewahrt: sie nehmen so viel Speicher, wie sie dürfen',
  'raise keep.max_memory or the memory of Redis, or lower keep.delivered in gateway.yaml':
    'keep.max_memory oder den Speicher von Redis erhöhen, oder keep.delivered in gateway.yaml senken',
  '{} h': '{1} h',
  'the copy {} does not reach its receiver': 'die Kopie {1} erreicht ihren Empfänger nicht',
  'see the evidence: start its receiver, or correct the copy in gateway.yaml (copies); what waits is delivered once it answers':
    'siehe Belege: den Empfänger starten, oder die Kopie in gateway.yaml (copies) berichtigen; was wartet, wird zugestellt, sobald er antwortet',
  'so much waits for the copy {} that the oldest positions are discarded':
    'für die Kopie {1} wartet so viel, dass die ältesten Positionen verworfen werden',
  'see why its receiver does not take them, or raise max_waiting (copies) or the memory of Redis':
    'nachsehen, warum der Empfänger sie nicht annimmt, oder max_waiting (copies) oder den Speicher von Redis erhöhen',
  'the receiver of the copy {} refuses positions: they are parked':
    'der Empfänger der Kopie {1} weist Positionen ab: sie sind zurückgestellt',
  'correct the cause that its answer names, then retry them: waybridge parked retry --copy NAME':
    'beheben, was seine Antwort nennt, dann erneut versuchen: waybridge parked retry --copy NAME',
  '{} discarded': '{1} verworfen',
  'the copy {}: {}': 'die Kopie {1}: {2}',
  'it does not answer within {} s': 'er antwortet nicht binnen {1} s',
  'the company has no apikey': 'die Firma hat keinen Apikey',
  'something else answers in its place': 'etwas anderes antwortet an seiner Stelle',
  'the broker refuses the login ({})': 'der Broker weist die Anmeldung ab ({1})',
  'the roster of {} cannot be pulled: its lines stay as they were':
    'der Tourenplan von {1} lässt sich nicht abholen: seine Zeilen bleiben, wie sie waren',
  'see that its server runs, and that url, token and ca are right in gateway.yaml (roster.pull); it is tried again by itself':
    'prüfen, ob der Server läuft und ob url, token und ca in gateway.yaml (roster.pull) stimmen; es wird von selbst erneut versucht',
  'the roster that is pulled from {} is refused: its lines stay as they were':
    'der Tourenplan, der von {1} abgeholt wird, ist abgelehnt: seine Zeilen bleiben, wie sie waren',
  'correct the roster at its source as the evidence says; where it would take routes and that is meant, write it with `waybridge routes put FILE --force`':
    'den Tourenplan an seiner Quelle berichtigen, wie es die Belege sagen; soll er wirklich Touren nehmen, ihn mit `waybridge routes put FILE --force` schreiben',
  'its server {}': 'die Gegenstelle {1}',
  'redirects more than {} times': 'leitet öfter als {1}-mal weiter',
  'redirects to where no roster is pulled from: expected https, and another machine':
    'leitet weiter, wohin nicht abgeholt wird: erwartet werden https und ein anderer Rechner',
  'sends more than {} MiB': 'sendet mehr als {1} MiB',
  'sends it compressed, which was not asked for': 'sendet ihn komprimiert, obwohl das nicht verlangt war',
  'does not say how long its answer is: it needs Content-Length, or chunks':
    'sagt nicht, wie lang ihre Antwort ist: sie braucht Content-Length oder Chunks',
  'it is a page (HTML), no roster: its server may want a login':
    'es ist eine Seite (HTML), kein Tourenplan: die Gegenstelle verlangt vielleicht eine Anmeldung',
  'the roster is outdated': 'der Tourenplan ist veraltet',
  '{} is an older copy of what was written to the roster: it is not in effect':
    '{1} ist eine ältere Fassung dessen, was schon im Tourenplan steht, und gilt nicht',
  'company {} has no line for today, and had some on each of the last five working days':
    'Firma {1} hat keine Zeile für heute; an jedem der letzten fünf Werktage hatte sie welche',
  'write the roster of today, or copy the newer file here: waybridge routes put FILE':
    'den Tourenplan von heute schreiben oder die neuere Datei hierher kopieren: waybridge routes put DATEI',
  'correct tracking.base_url (or push_url), or the DNS of this machine':
    'tracking.base_url (oder push_url) oder das DNS dieses Rechners berichtigen',
  'check the network and the firewall between this machine and the API':
    'Netz und Firewall zwischen diesem Rechner und der API prüfen',
  'renew the certificate of the API, or correct tracking.base_url':
    'das Zertifikat der API erneuern oder tracking.base_url berichtigen',
  'the tracking API {}': 'die Tracking-API {1}',
}

/** What shows it. */
const EVIDENCE = {
  'is down': 'ist gestört',
  'answers {}': 'antwortet mit {1}',
  'refuses connections': 'weist Verbindungen ab',
  'cuts connections': 'bricht Verbindungen ab',
  'does not answer in time': 'antwortet nicht rechtzeitig',
  'cannot be found: its host name does not exist': 'ist nicht zu finden: ihren Hostnamen gibt es nicht',
  'cannot be reached': 'ist nicht zu erreichen',
  'does not complete a TLS handshake': 'schließt keinen TLS-Handshake ab',
  'if the API asks for a client certificate, name it in tracking.tls (gateway.yaml), cert and key; otherwise tell who runs the API which versions of TLS it refuses: 1.2 and 1.3':
    'verlangt die API ein Client-Zertifikat, es in tracking.tls (gateway.yaml) nennen, cert und key; sonst dem Betreiber der API sagen, welche Versionen von TLS sie ablehnt: 1.2 und 1.3',
  'has a certificate that is not accepted': 'hat ein Zertifikat, das nicht anerkannt wird',
  'has a certificate of an authority that is not trusted': 'hat ein Zertifikat einer Stelle, der nicht vertraut wird',
  'speaks HTTPS, and is asked without': 'spricht HTTPS und wird ohne gefragt',
  'does not speak HTTPS at that port': 'spricht an diesem Port kein HTTPS',
  'sends what is no HTTP': 'sendet, was kein HTTP ist',
  'if the authority is your own, name its certificate in tracking.tls.ca (gateway.yaml); otherwise have the API send its whole chain, or correct tracking.base_url':
    'ist es eine eigene Stelle, ihr Zertifikat in tracking.tls.ca (gateway.yaml) nennen; sonst die API ihre ganze Kette senden lassen oder tracking.base_url berichtigen',
  'cannot be reached through the proxy': 'ist durch den Proxy nicht zu erreichen',
  'check the proxy of the API (tracking.proxy in gateway.yaml): waybridge check --live says what it answers':
    'den Proxy der API prüfen (tracking.proxy in gateway.yaml): waybridge check --live sagt, was er antwortet',
  'x-request-id {}, traceparent {}': 'x-request-id {1}, traceparent {2}',
  'write https:// in tracking.base_url (or push_url)': 'in tracking.base_url (oder push_url) https:// schreiben',
  'correct tracking.base_url (or push_url): its port, or http:// in place of https://':
    'tracking.base_url (oder push_url) berichtigen: den Port, oder http:// statt https://',
  'correct what its answer names: it does not say that the courier or the route is wrong; then retry: waybridge parked retry':
    'berichtigen, was ihre Antwort nennt: sie sagt nicht, dass Fahrer oder Tour falsch sind; dann erneut versuchen: waybridge parked retry',
  'Redis cannot write to its disk: nothing is stored and nothing acknowledged':
    'Redis kann nicht auf seine Platte schreiben: nichts wird gespeichert und nichts bestätigt',
  'Redis does not answer, and its disk is full or nearly: nothing is stored and nothing acknowledged':
    'Redis antwortet nicht, und seine Platte ist voll oder fast: nichts wird gespeichert und nichts bestätigt',
  'free space on the disk that Redis writes to, or enlarge it; see the log of Redis; trackers keep what is not acknowledged':
    'Platz auf der Platte schaffen, auf die Redis schreibt, oder sie vergrößern; das Protokoll von Redis ansehen; die Geräte behalten, was nicht bestätigt ist',
  '{} position waits': '{1} Position wartet',
  '{} positions wait': '{1} Positionen warten',
  '{} request in flight': '{1} laufende Anfrage',
  '{} requests in flight': '{1} laufende Anfragen',
  '{}: {}, last at {}': '{1}: {2}, zuletzt um {3}',
  'it redirects to: {}': 'es leitet weiter zu: {1}',
  'it begins with: {}': 'es beginnt mit: {1}',
  'something else answered in its place': 'an ihrer Stelle antwortete etwas anderes',
  'courier {}, route {}': 'Fahrer {1}, Tour {2}',
  '{} lane': '{1} Spur',
  '{} lanes': '{1} Spuren',
  '{} restarts within {} minutes': '{1} Neustarts in {2} Minuten',
  '{} waiting on {}': '{1} in der Warteschlange auf {2}',
  '{} position': '{1} Position',
  '{} positions': '{1} Positionen',
  '{} received fix is missing': '{1} empfangene Position fehlt',
  '{} received fixes are missing': '{1} empfangene Positionen fehlen',
  '{} fix too many': '{1} Position zu viel',
  '{} fixes too many': '{1} Positionen zu viel',
  '{} on {}': '{1} auf {2}',
  '{}: last sign of life {} s ago': '{1}: letztes Lebenszeichen vor {2} s',
  'its fixes are held': 'seine Positionen werden gehalten',
  'its fixes are filtered': 'seine Positionen werden gefiltert',
  'last heard {} ago': 'zuletzt gehört vor {1}',
  'last new position {} ago': 'letzte neue Position vor {1}',
  'no position yet': 'noch keine Position',
  'now filtered as {}': 'jetzt gefiltert ({1})',
  '{} behind: {}': 'die Uhr geht {1} nach: {2}',
  'no time zone fits': 'keine Zeitzone passt',
  'remove its time_zone': 'seine time_zone entfernen',
  'time_zone "{}" fits': 'time_zone "{1}" passt',
  '{} days': '{1} Tagen',
  '{} and {} more': '{1} und {2} weitere',
  '{} on route {}': '{1} auf Tour {2}',
  'a device': 'einem Gerät',
  '{} route': '{1} Tour',
  '{} routes': '{1} Touren',
  'the longest: {}': 'am längsten: {1}',
  '{}: more than the limit of {}': '{1}: mehr als die Grenze von {2}',
  'a connection could not be accepted: {}': 'eine Verbindung konnte nicht angenommen werden: {1}',
  '{} of {} connections are open': '{1} von {2} Verbindungen sind offen',
  '{} connections from {}': '{1} Verbindungen von {2}',
  '{} connections, {} of them from {}': '{1} Verbindungen, {2} davon von {3}',
  'datagrams from {}': 'Datagramme von {1}',
  'connections from {}': 'Verbindungen von {1}',
  'requests from {}': 'Anfragen von {1}',
  'another device has used {}: datagrams from there that name no device are not taken':
    'ein anderes Gerät hat {1} benutzt: Datagramme von dort, die kein Gerät nennen, werden nicht angenommen',
  'speaks {} on port {} ({})': 'spricht {1} auf Port {2} ({3})',
  'port {} is for that': 'dafür ist Port {1} da',
  'port {} is for all protocols': 'für alle Protokolle ist Port {1} da',
  '{} port {}: {}': '{1}, Port {2}: {3}',
  'no secret': 'kein Geheimnis',
  'another secret': 'ein anderes Geheimnis',
  '{} wrong secrets from {}': '{1} falsche Geheimnisse von {2}',
  'held as suspicious': 'gehalten als verdächtig',
  'held as clock': 'gehalten wegen der Uhr',
  'held as no_route': 'gehalten ohne Tour',
  'held as unknown': 'gehalten als nicht eingerichtet',
  'taken for no configured device': 'für kein eingetragenes Gerät gehalten',
  'all with its secret or certificate': 'alle mit seinem Geheimnis oder Zertifikat',
  'no client certificate': 'kein Client-Zertifikat',
  'another network': 'ein anderes Netz',
  '{}, from {}': '{1}, von {2}',
  'until {}': 'bis {1}',
  '{} ends {}': '{1} läuft ab: {2}',
  '{} % of its memory': '{1} % des Speichers',
  'about {} min ahead: {}': 'etwa {1} min voraus: {2}',
  '{} is not told of findings': '{1} erfährt nichts von Befunden',
  'correct the receiver or its URL in gateway.yaml (alerts), then test it: waybridge alerts test':
    'den Empfänger oder seine URL in gateway.yaml (alerts) korrigieren, dann testen: waybridge alerts test',
  'it answers {}': 'er antwortet {1}',
  'it answers {}: {}': 'er antwortet {1}: {2}',
  'it redirects ({}): redirects are not followed': 'er leitet um ({1}): Umleitungen wird nicht gefolgt',
  'it does not answer within 10 s': 'er antwortet nicht binnen 10 s',
  'the connection failed ({})': 'die Verbindung kam nicht zustande ({1})',
  'its clock is wrong': 'seine Uhr geht falsch',
  'time_zone "{}" would fit': 'time_zone "{1}" würde passen',
  '{} and {} in turns': 'abwechselnd {1} und {2}',
  '{} from {}': '{1} von {2}',
  '{},{} at {} UTC': '{1},{2} um {3} UTC',
  'the clock differs from that of Redis by {}': 'die Uhr weicht von der von Redis um {1} ab',
  'the clock jumped by {}': 'die Uhr sprang um {1}',
  'the clock differs from that of the tracking API by {}, and is not synchronised':
    'die Uhr weicht von der der Tracking-API um {1} ab und ist nicht synchronisiert',
  'there is no connection to Redis': 'es gibt keine Verbindung zu Redis',
  'Redis is connected and does not answer': 'Redis ist verbunden und antwortet nicht',
  'Redis cannot write its append-only file': 'Redis kann seine AOF-Datei nicht schreiben',
  'Redis cannot rewrite its append-only file': 'Redis kann seine AOF-Datei nicht neu schreiben',
  'Redis cannot rewrite its append-only file: it grows until the disk is full':
    'Redis kann seine AOF-Datei nicht neu schreiben: sie wächst, bis die Platte voll ist',
  'see the log of Redis for the reason: it may lack memory for that (vm.overcommit_memory), or space on its disk':
    'im Log von Redis nach dem Grund sehen: ihm fehlt dafür vielleicht Speicher (vm.overcommit_memory) oder Platz auf der Platte',
  '{}: {} MiB are left': '{1}: noch {2} MiB frei',
  '{} of {} replicas of Redis are connected: nothing is acknowledged until all are':
    '{1} von {2} Replikaten von Redis sind verbunden: bis alle es sind, bekommt kein Gerät eine Antwort',
  'this Redis is a replica of {} and takes no writes: name its primary in redis.url':
    'dieses Redis ist ein Replikat von {1} und nimmt nichts an: in redis.url dessen Hauptserver nennen',
  'The replica {}': 'Das Replikat {1}',
  'redis.replicas is {}, but {} replicas are connected ({}): one that lacks what is acknowledged could become the primary. Set redis.replicas: {}':
    'redis.replicas ist {1}, aber {2} Replikate sind verbunden ({3}): eines, dem Bestätigtes fehlt, könnte Hauptserver werden. redis.replicas: {4} setzen',
  'The replica {} does not let itself be asked, so it cannot be verified that it keeps what is acknowledged: {}':
    'Das Replikat {1} lässt sich nicht fragen, darum ist nicht zu prüfen, ob es Bestätigtes aufbewahrt: {2}',
  '{} does not let its settings be read (CONFIG GET), so it cannot be verified that it keeps what is acknowledged: if it has {}, {}':
    '{1} lässt seine Einstellungen nicht lesen (CONFIG GET), darum ist nicht zu prüfen, ob es Bestätigtes aufbewahrt: wenn {2} gilt, {3}',
  'set redis.durability: relaxed': 'redis.durability: relaxed setzen',
  '{} has {} {}, needed is {} {}: what is acknowledged could be lost':
    '{1} hat {2} {3}, nötig ist {4} {5}: Bestätigtes könnte verloren gehen',
}

/** Reasons for guessing a protocol, in the list of arrivals. */
const GUESSES = {
  'its checksum fits': 'seine Prüfsumme stimmt',
  'its position names no device': 'seine Position nennt kein Gerät',
  'its position is plausible': 'seine Position ist glaubhaft',
  'its position is not plausible': 'seine Position ist nicht glaubhaft',
  'it has no valid position': 'es hat keine gültige Position',
  'it is a login': 'es ist eine Anmeldung',
  'it is a {}': 'es enthält keine Position ({1})',
  'the next frame fits': 'das nächste Datenpaket passt',
  'the next frame does not fit': 'das nächste Datenpaket passt nicht',
  'device {} is configured, with this protocol': 'Gerät {1} ist mit diesem Protokoll eingerichtet',
  'device {} is configured': 'Gerät {1} ist eingerichtet',
  'device {} spoke it before': 'Gerät {1} sprach es schon',
  '{} is short for an id': '{1} ist kurz für eine Kennung',
  '{} is hardly an id': '{1} ist kaum eine Kennung',
  '{} is an IMEI': '{1} ist eine IMEI',
  '{} has the length of an IMEI': '{1} ist so lang wie eine IMEI',
  '{} is a long number': '{1} ist eine lange Zahl',
  '{} may be an id': '{1} kann eine Kennung sein',
  'this broker speaks MQTT 3.1.1: set the client to it': 'dieser Broker spricht MQTT 3.1.1: den Client so einstellen',
}

/** The links of a van. */
const LINKS = {
  'its id came from {}': 'seine Kennung kam von {1}',
  'what it sent is held since {}': 'was es sendete, wird seit {1} gehalten',
  'it came, and was refused at {}': 'es kam und wurde um {1} abgewiesen',
  'configured a moment ago, not heard yet': 'eben eingerichtet, noch nicht gehört',
  'never heard': 'nie gehört',
  '{} sends, and nobody has configured it': '{1} sendet und ist nicht eingerichtet',
  'heard {} ago: {} over {} from {}': 'gehört vor {1}: {2} über {3} von {4}',
  'a login': 'eine Anmeldung',
  'connected since {}': 'verbunden seit {1}',
  'about {} a month on the air': 'im Mobilfunk etwa {1} im Monat',
  '{} %': '{1} %',
  '{} kB': '{1} kB',
  '{} MB': '{1} MB',
  'it connects anew for each position': 'es verbindet sich für jede Position neu',
  '{} frame of {} is not understood since {}': '{1} Datenpaket von {2} wird seit {3} nicht verstanden',
  '{} frames of {} are not understood since {}': '{1} Datenpakete von {2} werden seit {3} nicht verstanden',
  'the decoder says "{}"': 'der Decoder meldet „{1}“',
  'protocol {}': 'Protokoll {1}',
  'transport {}': 'Transport {1}',
  'not known yet': 'noch nicht bekannt',
  'nobody has configured it': 'niemand hat es eingerichtet',
  'refused as {}': 'abgewiesen: {1}',
  'since {}': 'seit {1}',
  'configured by {}': 'eingerichtet durch {1}',
  'route {} by {}': 'Tour {1} durch {2}',
  'route {} by the admin port, put {}': 'Tour {1} durch den Admin-Port, gesetzt {2}',
  'no route now': 'jetzt ohne Tour',
  '{} held for {} since {}': '{1} gehalten seit {3} ({2})',
  'the last fix is {}: {}': 'die letzte Position ist {1}: {2}',
  held: 'gehalten',
  filtered: 'gefiltert',
  '{} waiting': '{1} in der Warteschlange',
  '{} waiting since {}': '{1} in der Warteschlange seit {2}',
  'last push {}: {}': 'letzte Sendung {1}: {2}',
  'last push: {}': 'letzte Sendung: {1}',
  'refused {}: {}': 'abgelehnt mit {1}: {2}',
  'the tracking API is up since {}': 'die Tracking-API nimmt Positionen an seit {1}',
  'the tracking API is down since {}': 'die Tracking-API ist gestört seit {1}',
  'the tracking API is limited since {}': 'die Tracking-API begrenzt uns seit {1}',
  'answer {}': 'Antwort {1}',
}

/** The sentence of a van. */
const SENTENCE = {
  '{} is moving': '{1} fährt',
  '{} is standing': '{1} steht',
  '{} sends': '{1} sendet',
  'it sends, and nothing is accepted since {}': 'es sendet, und nichts wird angenommen seit {1}',
  '{} is parked': '{1} parkt',
  'ignition off since {}': 'Zündung aus seit {1}',
  'ignition on since {}': 'Zündung an seit {1}',
  'last position {}': 'letzte Position {1}',
  'parked, and counts as silent once it was not heard for {}':
    'geparkt, und gilt als stumm, wenn {1} lang nichts zu hören war',
  '{} is silent': '{1} ist stumm',
  '{} is heard without a new position': '{1} meldet sich ohne neue Position',
  '{} is heard, and has no route now': '{1} meldet sich und hat jetzt keine Tour',
  '{} is heard, and its fixes are held': '{1} meldet sich, und seine Positionen werden gehalten',
  '{} was not heard since it belongs to its company': '{1} wurde nicht gehört, seit es zu seiner Firma gehört',
  '{} was never heard': '{1} wurde nie gehört',
  '{} is not configured': '{1} ist nicht eingerichtet',
  'last {}': 'zuletzt {1}',
  'at {}': 'bei {1}',
  '{} km N of {}': '{1} km nördlich von {2}',
  '{} km NE of {}': '{1} km nordöstlich von {2}',
  '{} km E of {}': '{1} km östlich von {2}',
  '{} km SE of {}': '{1} km südöstlich von {2}',
  '{} km S of {}': '{1} km südlich von {2}',
  '{} km SW of {}': '{1} km südwestlich von {2}',
  '{} km W of {}': '{1} km westlich von {2}',
  '{} km NW of {}': '{1} km nordwestlich von {2}',
  'in {}': 'in {1}',
  '{} ago': 'vor {1}',
  '{} ago by its clock': 'nach seiner Uhr vor {1}',
  'on route {} (courier {})': 'auf Tour {1} (Fahrer {2})',
  'earlier ones wait on route {} since {}': 'frühere warten auf Tour {1} seit {2}',
  'earlier ones were {}': 'frühere {1}',
  'but nothing can come from it now': 'aber jetzt kann nichts von ihm ankommen',
  'but what it sends is not understood': 'aber was es sendet, wird nicht verstanden',
  'but what it sends is refused': 'aber was es sendet, wird abgewiesen',
  'but its positions do not go where they belong': 'aber seine Positionen gehen nicht an ihr Ziel',
  'but nothing can be stored': 'aber nichts kann gespeichert werden',
  'but its positions are not pushed': 'aber seine Positionen werden nicht gesendet',
  'but its positions arrive late': 'aber seine Positionen kommen verspätet an',
  'but the tracking API does not take its positions': 'aber die Tracking-API nimmt seine Positionen nicht',
  'not configured': 'nicht eingerichtet',
  'nothing is held: {}': 'nichts wird gehalten: {1}',
  'no fix yet': 'noch keine Position',
  'last fix {}': 'letzte Position {1}',
  'not heard since it was configured': 'seit der Einrichtung nicht gehört',
  'silent since {}, {}': 'stumm seit {1}, {2}',
  'heard {}, {}': 'gehört {1}, {2}',
  '{}: kept, and decoded again after an upgrade or a change of its entry':
    '{1}: aufbewahrt, und nach einer neuen Version oder einer Änderung seines Eintrags erneut gelesen',
  'its id came from {}, and was not understood there': 'seine Kennung kam von {1} und wurde dort nicht verstanden',
  '{} at port {}': '{1} an Port {2}',
  'refused since {}': 'abgewiesen seit {1}',
  '{} held since {}': '{1} gehalten seit {2}',
  '{} fix': '{1} Position',
  '{} fixes': '{1} Positionen',
  '{}, off the track of the device: compare the findings of `status`; `waybridge release` delivers them':
    '{1}, abseits der Spur des Geräts: die Befunde von `status` vergleichen; `waybridge release` stellt sie zu',
  '{}, no route at its time: {}': '{1}, zu ihrer Zeit keine Tour: {2}',
  '{}, no route at their time: {}': '{1}, zu ihrer Zeit keine Tour: {2}',
  '{}, ahead of the clock, by no time zone: correct the clock of the device':
    '{1}, der Uhr voraus, um keine Zeitzone: die Uhr des Geräts stellen',
  '{}, ahead of the clock: set time_zone: "{}" in {}': '{1}, der Uhr voraus: time_zone: "{2}" setzen in {3}',
  'its entry': 'seinem Eintrag',
  'being released now': 'werden gerade freigegeben',
  'without what its entry asks for (secret, protocol, transports, networks or client_certificate)':
    'ohne das, was sein Eintrag verlangt (secret, protocol, transports, networks oder client_certificate)',
  'add a line to routes.csv': 'eine Zeile in routes.csv schreiben',
  'correct its line, which is left out: {}': 'seine Zeile berichtigen, die ausgelassen ist: {1}',
  'nothing has come from it, but {} sends, and nobody has configured that: is it the same tracker? If so, correct the id in {}':
    'noch kam nichts von ihm, aber {1} sendet und ist nicht eingerichtet: ist es derselbe Tracker? Dann die Kennung berichtigen in {2}',
  'a put replaced {}: put a line, or edit that one':
    'eine gesendete Zeile hat {1} ersetzt: eine senden oder jene ändern',
  'filtered as {} at {}': 'gefiltert ({1}) um {2}',
  'the device has no satellite fix, check its antenna and where it is':
    'das Gerät hat keinen Satellitenempfang, Antenne und Ort prüfen',
  'the device sent 0/0, it has no satellite fix': 'das Gerät sandte 0/0, es hat keinen Satellitenempfang',
  'its latitude or longitude does not exist': 'ihre Breite oder Länge gibt es nicht',
  'the fix is older than filter.max_age': 'die Position ist älter als filter.max_age',
  'the fix is ahead of the clock by more than filter.max_future':
    'die Position ist der Uhr um mehr als filter.max_future voraus',
  'it had no route then, and hold.no_route is false': 'es hatte da keine Tour, und hold.no_route ist false',
  'refused {} by the service': 'von der Tracking-API mit {1} abgelehnt',
  '{} parked': '{1} geparkt',
  '{} and {} on other routes': '{1} und {2} auf anderen Touren',
  '{} ({})': '{1} ({2})',
  'correct the entry': 'den Eintrag berichtigen',
  'correct the line': 'die Zeile berichtigen',
  'check the apikey of company {}, and that the courier belongs to it':
    'den apikey der Firma {1} prüfen, und ob der Fahrer zu ihr gehört',
  'correct the cause and retry them, or delete them': 'die Ursache beheben und sie erneut versuchen, oder sie löschen',
  '{}: the service is down since {}': '{1}: die Tracking-API ist gestört seit {2}',
  '{}: the service accepts fewer requests since {}': '{1}: die Tracking-API nimmt weniger Anfragen an seit {2}',
  '{}: the push of {} failed: {}, it is being retried': '{1}: die Sendung um {2} scheiterte: {3}, sie wird wiederholt',
  '{}: behind, the newest position is sent first': '{1}: im Rückstand, die neueste Position wird zuerst gesendet',
  '{}, will be pushed next': '{1}, werden als Nächstes gesendet',
  'last push {}': 'letzte Sendung {1}',
  'all delivered': 'alles zugestellt',
  'nothing to deliver': 'nichts zuzustellen',
  '{}: check its power and its SIM card': '{1}: Strom und SIM-Karte prüfen',
  'the service answered {}': 'die Tracking-API antwortete {1}',
  'the connection failed ({})': 'die Verbindung scheiterte ({1})',
  'the connection was refused': 'die Verbindung wurde abgewiesen',
  'the connection was cut': 'die Verbindung brach ab',
  'there was no answer in time': 'es kam keine Antwort zur Zeit',
  'the host name of the service was not found': 'der Hostname der Tracking-API wurde nicht gefunden',
  'the service could not be reached': 'die Tracking-API war nicht zu erreichen',
  'it presents a wrong secret, or none: set the same secret in the device and in its entry':
    'es zeigt ein falsches oder kein Geheimnis: im Gerät und in seinem Eintrag dasselbe setzen',
  'it came in a way that its entry does not allow: correct protocol, transports, networks or client_certificate':
    'es kam auf einem Weg, den sein Eintrag nicht erlaubt: protocol, transports, networks oder client_certificate berichtigen',
  'it publishes to a topic that nobody knows: set devices/<id>/fix, or another one of protocols/README.md':
    'es veröffentlicht unter einem Topic, das niemand kennt: devices/<id>/fix einstellen, oder ein anderes aus protocols/README.md',
  'it uses the id of another device: correct its id, or its certificate':
    'es benutzt die Kennung eines anderen Geräts: seine Kennung oder sein Zertifikat berichtigen',
  'it was refused as a device that is not configured: it is taken with its next message':
    'es wurde als nicht eingerichtet abgewiesen: mit seiner nächsten Meldung wird es angenommen',
  'nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals':
    'noch kam nichts von ihm: es auf diesen Server richten (waybridge setup) und seine Kennung unter Ankünfte suchen',
  'add it to devices.yaml': 'es in devices.yaml eintragen',
  'no device with this id is configured: {}': 'kein Gerät mit dieser Kennung ist eingerichtet: {1}',
  'it was deleted through the admin port: put it there again, or edit its entry, {}':
    'es wurde über den Admin-Port gelöscht: dort erneut anlegen oder seinen Eintrag ändern, {1}',
}

/** Why there is no position of a time. */
const GAPS = {
  'nothing came that was readable and known to be its own': 'es kam nichts an, das lesbar und sicher von ihm war',
  'its ignition was off, and no position came': 'seine Zündung war aus, und es kam keine Position an',
  'its ignition was off: it had not started yet': 'seine Zündung war aus: es war noch nicht losgefahren',
  'it was heard, and no position of this time came': 'es war zu hören, und keine Position dieser Zeit kam an',
  'its positions were filtered: without GPS, at no possible place, too old or too new, without a route, or on trial':
    'seine Positionen wurden gefiltert: ohne GPS, an keinem möglichen Ort, zu alt oder zu neu, ohne Tour oder im Probebetrieb',
  'its positions were held: without a route, of a time in doubt, or off its track':
    'seine Positionen wurden gehalten: ohne Tour, zu einer zweifelhaften Zeit oder abseits seines Weges',
  'its positions could not be stored; it was not answered, and sends them again':
    'seine Positionen konnten nicht gespeichert werden; es bekam keine Antwort und sendet sie erneut',
  'its positions wait for the tracking API': 'seine Positionen warten auf die Tracking-API',
  'the tracking API refused its positions: they are kept':
    'die Tracking-API lehnte seine Positionen ab: sie sind aufbewahrt',
  'nothing was noted of this time: perhaps no gateway ran':
    'von dieser Zeit wurde nichts notiert: vielleicht lief kein Gateway',
}

/** Daily reports for the receivers of alerts. */
const DAY = {
  '{}: {}, nothing was planned so far': '{1}: {2}, bisher war nichts geplant',
  '{}: {}, {} of the planned time with positions': '{1}: {2}, {3} der geplanten Zeit mit Positionen',
  '{}, {}': '{1}, {2}',
  'company {}': 'Firma {1}',
  '{} route': '{1} Tour',
  '{} routes': '{1} Touren',
  'Route {} (courier {}): {}; {}': 'Tour {1} (Kurier {2}): {3}; {4}',
  '{} more route has gaps': '{1} weitere Tour hat Lücken',
  '{} more routes have gaps': '{1} weitere Touren haben Lücken',
  '{} position was delivered again, to the route where it belongs':
    '{1} Position wurde erneut zugestellt, an die Tour, zu der sie gehört',
  '{} positions were delivered again, to the route where they belong':
    '{1} Positionen wurden erneut zugestellt, an die Tour, zu der sie gehören',
  '{} min': '{1} Min.',
  '{} h {} min': '{1} Std. {2} Min.',
  '{} not heard': '{1} nicht gehört',
  '{} parked': '{1} geparkt',
  '{} heard, without a position': '{1} gehört, ohne Position',
  '{} with positions that were filtered': '{1} mit gefilterten Positionen',
  '{} with positions that are held': '{1} mit zurückgehaltenen Positionen',
  '{} with positions that could not be stored': '{1} mit Positionen, die nicht gespeichert werden konnten',
  '{} with positions that wait for the tracking API': '{1} mit Positionen, die auf die Tracking-API warten',
  '{} with positions that the tracking API refuses': '{1} mit Positionen, die die Tracking-API ablehnt',
  '{} without notes': '{1} ohne Notizen',
  '{} not started': '{1} nicht losgefahren',
}

/** The state of everything in one sentence. */
const VERDICT = {
  'all well': 'alles in Ordnung',
  'all well: {}': 'alles in Ordnung: {1}',
  'nothing is known to be wrong so far': 'bisher ist kein Fehler bekannt',
  '{}, {} positions/s delivered': '{1}, {2} Positionen/s zugestellt',
  '{} device connected': '{1} Gerät verbunden',
  '{} devices connected': '{1} Geräte verbunden',
  '{} devices': '{1} Geräten',
  'each of {} devices': 'jedes von {1} Geräten',
  'well, with {} warning: {}': 'in Ordnung, mit {1} Warnung: {2}',
  'well, with {} warnings: {}': 'in Ordnung, mit {1} Warnungen: {2}',
  '{} more finding': '{1} weiterer Befund',
  '{} more findings': '{1} weitere Befunde',
}

export const DIAGNOSIS = { ...FINDINGS, ...EVIDENCE, ...GUESSES, ...LINKS, ...SENTENCE, ...GAPS, ...DAY, ...VERDICT }
