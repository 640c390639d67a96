internal import Base
internal import Logins

/// TRACK-HOST and LAN-LEAK of names that a name server was asked for, over UDP, TCP, TLS or HTTPS.
enum AskedNamesDetector {
    static func examine(_ view: MessageView, _ parties: inout Parties) -> [RuleMatch] {
        let fields = view.askedFields
        return trackers(fields, &parties) + LocalLeakDetector.examine(fields, to: view.host)
    }

    static func examine(_ view: ExchangeView, _ parties: inout Parties) -> [RuleMatch] {
        let fields =
            view.bodyFields.filter { $0.container == .dns }
            + view.urlFields.filter { $0.steps.last == .dns }
        return trackers(fields, &parties)
    }

    private static func trackers(
        _ fields: [MessageField], _ parties: inout Parties
    ) -> [RuleMatch] {
        var found: [RuleMatch] = []
        for field in fields where found.count < countLimit {
            let host = HostName(authority: field.value)
            guard let entry = parties.tracker(host) else { continue }
            var result = RuleMatch(.trackHost, .info, .certain)
            result.place = .service
            result.about = host
            result.notes = [
                .privacy(entry.isOwnList ? .listedByUser : .listedHere), .privacy(.nameAsked),
            ]
            found.append(result)
        }
        return found
    }

    /// Of one exchange or connection.
    private static let countLimit = 64
}
