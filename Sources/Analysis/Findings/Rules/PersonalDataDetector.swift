internal import Base
internal import Contents

/// PII-EMAIL, PII-GEO, PII-CARD and PII-OTHER: what tells who somebody is, where and what of.
enum PersonalDataDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        examine(view.personalValues, in: view)
    }

    /// - Parameter values: those of the request, or of a message that it led to.
    static func examine(_ values: [PersonalValue], in view: ExchangeView) -> [RuleMatch] {
        values.matches { judge($0, view) }
    }

    private static func judge(_ value: PersonalValue, _ view: ExchangeView) -> RuleMatch? {
        switch value.kind {
        case .email:
            return match(.personalEmail, value, view.isClear ? .high : .low, third: .medium)
        case .preciseLocation:
            let isMap = isMap(view)
            let third: Severity = isMap ? .low : view.tracker == nil ? .medium : .high
            return match(
                .personalLocation, value, view.isClear && !isMap ? .medium : .low, third: third)
        case .coarseLocation: return match(.personalLocation, value, .info, third: .info)
        case .card:
            if value.isHarmless { return match(.personalCard, value, .info, third: .info) }
            let isProcessor = processors.contains(view.service.text)
            return match(
                .personalCard, value, view.isClear ? .high : .low,
                third: isProcessor ? .low : .high)
        case .phone, .birthDate, .socialSecurity, .bankAccount, .health:
            return match(.personalOther, value, view.isClear ? .medium : .low, third: .medium)
        default: return nil
        }
    }

    private static func match(
        _ rule: RuleID, _ value: PersonalValue, _ severity: Severity, third: Severity
    ) -> RuleMatch {
        var result = RuleMatch(rule, severity, value.confidence, field: value.field)
        if third > severity { result.thirdPartySeverity = third }
        return result
    }

    /// Whether it asks for a piece of a map, and not for what is near the user.
    private static func isMap(_ view: ExchangeView) -> Bool {
        let path = view.target.path.prefix(256).lowercasedBytes.text
        return ["tile", "bbox", "staticmap", "geocode"].contains { path.contains($0) }
    }

    /// Who is paid for taking card numbers.
    private static let processors: Set<String> = [
        "adyen.com", "authorize.net", "braintree-api.com", "braintreegateway.com", "checkout.com",
        "cybersource.com", "globalpay.com", "mollie.com", "paypal.com", "payu.com", "razorpay.com",
        "spreedly.com", "square.com", "squareup.com", "stripe.com", "worldpay.com",
    ]
}

extension RuleText {
    static let personalEmail = RuleText(
        title: "E-mail address",
        reason: "the address tells who the user is, and puts together what several services know",
        advice: "leave it out, or send a pseudonym that the service alone can use",
        decision:
            "A whole value is an e-mail address (RFC 5321 §4.1.2). Low at a first party over TLS,"
            + " medium at others, high in cleartext.",
        exceptions: "Domains kept for examples, and names of files such as icon@2x.png.",
        worst: .high,
        weaknesses: [359])

    static let personalLocation = RuleText(
        title: "Location",
        reason: "three decimals tell a house, and where somebody lives tells who it is",
        advice: "round to two decimals, and ask for permission",
        decision:
            "A latitude and a longitude that belong together by their names, or GeoJSON, with three"
            + " decimals or more of both; fewer are info. Apple draws the line there.",
        exceptions: "0,0; pieces of maps are low; what an origin tells of places is no matter.",
        worst: .high,
        weaknesses: [359])

    static let personalCard = RuleText(
        title: "Payment card number",
        reason: "whoever has the number and its date can pay with it",
        advice:
            "let the payment processor's form take the number, and keep the token that it gives",
        decision:
            "A whole value has a brand's prefix and length and a right check digit (ISO/IEC 7812-1),"
            + " and its name or a date or check code beside it says that it is a card.",
        exceptions: "Numbers published for tests are info; at a payment processor it is low.",
        worst: .high,
        weaknesses: [359, 311])

    static let personalOther = RuleText(
        title: "Phone number, date of birth, account or other personal data",
        reason: "it tells who the user is, or what nobody else should know",
        advice: "leave it out, or send it to the service that needs it alone",
        decision:
            "A field is named for a phone number, a date of birth, a social security number or a"
            + " health record and its value has the form, or a value is an IBAN (ISO 13616-1).",
        exceptions: "Phone numbers without '+' and health records are tentative.",
        worst: .medium,
        weaknesses: [359])
}
