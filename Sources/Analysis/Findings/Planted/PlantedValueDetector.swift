internal import Base
internal import Contents
internal import Logins
internal import Traffic

/// PLANT-SECRET and PLANT-ID: a value of the subject where it must not be.
struct PlantedValueDetector {
    let profile: SubjectProfile
    let automaton: PlantedAutomaton
    /// The keys of the values that were seen, where they may be too.
    private(set) var seenKeys: Set<String> = []

    init(profile: SubjectProfile, automaton: PlantedAutomaton) {
        self.profile = profile
        self.automaton = automaton
    }

    mutating func examine(_ view: ExchangeView) -> [RuleMatch] {
        var search = Search(detector: self, host: view.host, isClear: view.isClear)
        search.examineURL(view)
        search.examinePlaces(view)
        search.examineHeaders(view)
        search.examineBody(view)
        if view.hasOriginResponse { search.examineResponse(view) }
        seenKeys.formUnion(search.seenKeys)
        return search.found
    }

    mutating func examine(_ view: MessageView) -> [RuleMatch] {
        var search = Search(detector: self, host: view.host, isClear: view.isClear)
        for field in view.askedFields { search.examine(field, isResponse: false) }
        for message in view.messages { search.examine(message) }
        search.examineDialogue(view.client, isResponse: false)
        search.examineDialogue(view.origin, isResponse: true)
        seenKeys.formUnion(search.seenKeys)
        return search.found
    }
}

/// One pass over an exchange, or over messages.
private struct Search {
    private struct Place: Hashable {
        let value: Int
        let container: Container
        let isResponse: Bool
        let name: [UInt8]
    }

    private let detector: PlantedValueDetector
    private let isClear: Bool
    private let isOwner: Bool
    private(set) var found: [RuleMatch] = []
    private(set) var seenKeys: Set<String> = []
    private var seen = Set<Place>()

    init(detector: PlantedValueDetector, host: HostName, isClear: Bool) {
        self.detector = detector
        self.isClear = isClear
        isOwner = detector.profile.isOwner(host)
    }

    mutating func examine(_ message: GatheredMessages.Message) {
        let isResponse = message.direction == .response
        for field in message.reading.fields { examine(field, isResponse: isResponse) }
        examineRest(message.bytes, of: [.message], as: .message, isResponse: isResponse)
    }

    mutating func examineDialogue(_ bytes: [UInt8], isResponse: Bool) {
        examineRest(bytes, of: [.dialogue], as: .dialogue, isResponse: isResponse)
    }

    /// Numbers are the same however they are written.
    mutating func examinePlaces(_ view: ExchangeView) {
        let planted = detector.profile.values.enumerated().filter { $0.element.kind == .location }
        guard !planted.isEmpty else { return }
        for (place, field) in LocationFields.places(view.requestFields) {
            for (index, value) in planted
            where Coordinates(pair: value.bytes)?.isNear(place) == true {
                report(
                    PlantedAutomaton.Hit(value: index, encoding: .plain), in: field,
                    isResponse: false)
            }
        }
    }

    mutating func examineURL(_ view: ExchangeView) {
        for field in view.urlFields { examine(field, isResponse: false) }
        let userinfo = MessageField(
            container: .userinfo, name: [], value: Array(view.target.userinfo))
        examine(expanding: userinfo, isResponse: false)
        examine(
            expanding: MessageField(container: .path, name: [], value: Array(view.target.path)),
            isResponse: false)
        // What stands in the name of a parameter, or across two.
        examineRest(
            Array(view.request.target.prefix(RecordedHead.valueLimit)),
            of: [.query, .pathParameter, .path, .userinfo], as: .query)
    }

    mutating func examineHeaders(_ view: ExchangeView) {
        for cookie in view.cookies where !cookie.isSet {
            examine(expanding: cookie.field, isResponse: false)
        }
        for field in view.headerFields {
            let value = Array(field.value.prefix(MessageField.valueLimit))
            switch field.name.text {
            case "cookie": examineRest(value, of: [.cookie], as: .cookie)
            case "referer":
                examine(
                    expanding: MessageField(container: .referer, name: [], value: value),
                    isResponse: false)
            default:
                examine(
                    expanding: MessageField(container: .header, name: field.name, value: value),
                    isResponse: false)
            }
        }
        examineRest(view.exchange.requestBody.trailers, of: [.trailer], as: .trailer)
    }

    mutating func examineBody(_ view: ExchangeView) {
        for field in view.bodyFields { examine(field, isResponse: false) }
        examineRest(
            view.requestBody, of: Container.contents, as: .body)
    }

    mutating func examineResponse(_ view: ExchangeView) {
        for cookie in view.cookies where cookie.isSet {
            examine(expanding: cookie.field, isResponse: true)
        }
        for value in view.response.texts("set-cookie") {
            examineRest(value, of: [.setCookie], as: .setCookie, isResponse: true)
        }
        for field in view.responseFields { examine(field, isResponse: true) }
        examineRest(
            view.responseBody, of: Container.contents, as: .body,
            isResponse: true)
    }

    /// Looks into the field and into what its encodings hide.
    private mutating func examine(expanding field: MessageField, isResponse: Bool) {
        var reader = FieldReader(byteLimit: 1 << 18)
        reader.add(field)
        for field in reader.fields { examine(field, isResponse: isResponse) }
    }

    mutating func examine(_ field: MessageField, isResponse: Bool) {
        for hit in detector.automaton.hits(in: field.value).sorted(by: Self.plainFirst) {
            report(hit, in: field, isResponse: isResponse)
        }
    }

    /// Looks for what the fields of the same part did not show.
    private mutating func examineRest(
        _ bytes: [UInt8], of containers: [Container], as container: Container,
        isResponse: Bool = false
    ) {
        let known = Set(
            seen.filter { containers.contains($0.container) && $0.isResponse == isResponse }
                .map(\.value))
        let field = MessageField(container: container, name: [], value: [])
        for hit in detector.automaton.hits(in: bytes).sorted(by: Self.plainFirst)
        where !known.contains(hit.value) {
            report(hit, in: field, isResponse: isResponse)
        }
    }

    private mutating func report(
        _ hit: PlantedAutomaton.Hit, in field: MessageField, isResponse: Bool
    ) {
        let planted = detector.profile.values[hit.value]
        if !isResponse { seenKeys.insert(planted.key) }
        guard let severity = severity(of: planted.kind, hit, in: field.container, isResponse) else {
            return
        }
        let place = Place(
            value: hit.value, container: field.container, isResponse: isResponse,
            name: field.name + field.pointer.joined())
        guard seen.insert(place).inserted else { return }
        let rule: RuleID = planted.kind.isCredential ? .plantSecret : .plantID
        var match = RuleMatch(rule, severity, .certain, field: field)
        match.value = planted.bytes
        match.isPassword = planted.kind.isCredential
        match.planted = (planted.key, hit.encoding)
        if !isOwner { match.notes.append(.wrongParty) }
        if isResponse { match.notes.append(.comesBackInResponse) }
        found.append(match)
    }

    /// `nil` if the value may be there.
    private func severity(
        of kind: SubjectProfile.Kind, _ hit: PlantedAutomaton.Hit, in container: Container,
        _ isResponse: Bool
    ) -> Severity? {
        var worst: Severity?
        if isClear { worst = kind.isCredential ? .critical : .high }
        if !isOwner { worst = max(worst ?? .info, .high) }
        if container.isURL { worst = max(worst ?? .info, kind.isCredential ? .high : .low) }
        if isResponse, kind.isCredential { worst = max(worst ?? .info, .medium) }
        guard let worst else { return nil }
        return hit.encoding.isHash ? min(worst, .medium) : worst
    }

    /// A fixed order, the readable forms first.
    private static func plainFirst(
        _ left: PlantedAutomaton.Hit, _ right: PlantedAutomaton.Hit
    ) -> Bool {
        if left.value != right.value { return left.value < right.value }
        if left.encoding == right.encoding { return false }
        if left.encoding == .plain || right.encoding == .plain { return left.encoding == .plain }
        return left.encoding.rawValue < right.encoding.rawValue
    }
}

extension RuleText {
    static let plantSecret = RuleText(
        title: "Planted credential seen where it must not be",
        reason:
            "a value of the test subject left the place where it belongs, so a real user's does"
            + " too",
        advice: "send the value only to its owner, over TLS, in a body or a header",
        decision:
            "A value of the subject's profile was found, as it is or in one of its encodings and"
            + " digests, in cleartext, at a service that is no owner, in a URL, or coming back.",
        exceptions:
            "The owner may have its values over TLS. A short value can occur by accident: choose"
            + " one that exists for the test alone.",
        worst: .critical,
        weaknesses: [319, 201, 598, 359])

    static let plantID = RuleText(
        title: "Planted identifier or personal value seen where it must not be",
        reason:
            "what tells the test subject from others left the place where it belongs, so a real"
            + " user's does too",
        advice: "send the value only to its owner, over TLS, in a body or a header",
        decision:
            "A value of the subject's profile that is no credential (e-mail, phone, name, address,"
            + " location, id) was found, as it is or in one of its encodings and digests, in"
            + " cleartext, at a service that is no owner, or in a URL; locations within 0.0001"
            + " degrees.",
        exceptions:
            "The owner may have its values over TLS. A short value can occur by accident: choose"
            + " one that exists for the test alone.",
        worst: .high,
        weaknesses: [359])
}
