internal import Base
internal import Contents

/// A value that tells a person or a device from others, by its form and its name.
struct PersonalValue {
    let kind: PersonalKind
    let field: MessageField
    var confidence = Confidence.firm
    /// Whether it was made up or is published for tests, so that it identifies nobody.
    var isHarmless = false

    /// Those that a request or a message carries.
    static func read(_ fields: [MessageField]) -> [PersonalValue] {
        var found: [PersonalValue] = []
        var cards = CardParents(fields)
        for field in fields where found.count < limit {
            if let value = read(field, &cards) { found.append(value) }
        }
        return found + LocationFields.read(fields)
    }

    /// What one field holds; the form is asked first, because names cost more.
    private static func read(
        _ field: MessageField, _ cards: inout CardParents
    ) -> PersonalValue? {
        let value = field.value
        guard field.isScalar, (6...254).contains(value.count) else { return nil }
        if value.contains(0x40) {
            return EmailAddress(value).map { _ in PersonalValue(kind: .email, field: field) }
        }
        switch value.count {
        case 25: if isUDID(value) { return udid(field, .certain) }
        case 36: return ValueKind.isUUID(value) ? uuid(field) : nil
        case 40:
            guard value.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
            let key = field.key.lettersAndDigits
            if key.hasSuffix("udid") || key.hasSuffix("uniqueidentifier") {
                return udid(field, .firm)
            }
            return key.hasSuffix("deviceid") ? udid(field, .tentative) : nil
        case 12, 17: if let address = MACAddress(value) { return mac(field, address) }
        default: break
        }
        return number(field, &cards) ?? named(field)
    }

    private static func udid(_ field: MessageField, _ confidence: Confidence) -> PersonalValue {
        PersonalValue(kind: .udid, field: field, confidence: confidence)
    }

    private static func isUDID(_ value: [UInt8]) -> Bool {
        value.starts(with: Array("0000".utf8)) && (value[4] == 0x36 || value[4] == 0x38)
            && value.enumerated().allSatisfy { index, byte in
                index == 8 ? byte == 0x2D : byte.hexDigitValue != nil
            }
    }

    private static func uuid(_ field: MessageField) -> PersonalValue? {
        let key = field.key.lettersAndDigits
        if advertisingNames.contains(key) {
            let isZero = field.value.allSatisfy { $0 == 0x30 || $0 == 0x2D }
            guard isZero || field.value[14] == 0x34 else { return nil }
            return PersonalValue(kind: .advertisingID, field: field, isHarmless: isZero)
        }
        return vendorNames.contains(key) ? PersonalValue(kind: .vendorID, field: field) : nil
    }

    private static func mac(_ field: MessageField, _ address: MACAddress) -> PersonalValue? {
        guard !address.isNone else { return nil }
        let words = Set(NameWords(field.key[...]).texts)
        let isNamed =
            !words.isDisjoint(with: hardwareWords) || field.key.lettersAndDigits == "bssid"
        guard isNamed || address.isSpelledOut else { return nil }
        let isNetwork = words.contains("bssid") || words.contains("ap")
        return PersonalValue(
            kind: isNetwork ? .networkAddress : .hardwareAddress, field: field,
            isHarmless: address.isLocal)
    }

    /// Numbers mean something by their names alone: one of ten passes a check digit.
    private static func number(
        _ field: MessageField, _ cards: inout CardParents
    ) -> PersonalValue? {
        let value = field.value
        guard (9...24).contains(value.count), value.first?.isASCIILetter == false else {
            return nil
        }
        if let card = PaymentCard(value) {
            guard isCardField(field, &cards) else { return nil }
            return PersonalValue(kind: .card, field: field, isHarmless: card.isTest)
        }
        guard value.allSatisfy({ $0.isASCIIDigit || $0 == 0x2D }) else { return nil }
        let key = field.key.lettersAndDigits
        let digits = value.filter(\.isASCIIDigit)
        if digits.count == 9, isNamed(field, socialNames) {
            return isSocialSecurity(digits)
                ? PersonalValue(kind: .socialSecurity, field: field) : nil
        }
        guard digits.count == value.count else { return nil }
        if key.contains("imei"), digits.count == 15, Checksum.luhn(digits), Set(digits).count > 2 {
            return PersonalValue(kind: .imei, field: field)
        }
        if key.contains("imsi"), digits.count == 15,
            (200...799).contains(Int(digits.prefix(3).text) ?? 0)
        {
            return PersonalValue(kind: .imsi, field: field)
        }
        if key.contains("iccid"), (19...20).contains(digits.count), Checksum.luhn(digits),
            digits.starts(with: [0x38, 0x39])
        {
            return PersonalValue(kind: .iccid, field: field)
        }
        return nil
    }

    private static func isCardField(
        _ field: MessageField, _ cards: inout CardParents
    ) -> Bool {
        let words = Set(NameWords(field.key[...]).texts)
        let above = field.pointer.dropLast().suffix(2).flatMap { NameWords($0[...]).texts }
        if !words.union(above).isDisjoint(with: cardWords) { return true }
        guard words.contains("number") || words.contains("no") else { return false }
        return cards.hold(field)
    }

    /// The places in which a field is named for a card's expiry, looked for once and only if a
    /// number asks for it.
    private struct CardParents {
        private struct Parent: Hashable {
            let container: Container
            let pointer: [[UInt8]]

            init(_ field: MessageField) {
                container = field.container
                pointer = field.pointer.dropLast()
            }
        }

        private let fields: [MessageField]
        private lazy var all = Set(
            fields.filter { !expiryWords.isDisjoint(with: NameWords($0.key[...]).texts) }
                .map(Parent.init))

        init(_ fields: [MessageField]) { self.fields = fields }

        mutating func hold(_ field: MessageField) -> Bool { all.contains(Parent(field)) }
    }

    /// Areas and groups that were never given out.
    private static func isSocialSecurity(_ digits: [UInt8]) -> Bool {
        let area = Int(digits.prefix(3).text) ?? 0
        return area != 0 && area != 666 && area < 900 && digits[3...4].text != "00"
            && digits[5...].text != "0000" && digits.text != "078051120"
            && digits.text != "123456789"
    }

    private static func named(_ field: MessageField) -> PersonalValue? {
        let value = field.value
        guard value.count <= 40 else { return nil }
        if (15...34).contains(value.count), value[0].isASCIILetter {
            let plain = value.filter { $0 != 0x20 }.text.uppercased().utf8
            if Checksum.iban(Array(plain)) {
                return PersonalValue(kind: .bankAccount, field: field)
            }
        }
        let key = field.key.lettersAndDigits
        if value.count == 16, key.hasSuffix("androidid"),
            value.allSatisfy({ $0.hexDigitValue != nil })
        {
            return PersonalValue(kind: .androidID, field: field)
        }
        if isNamed(field, phoneNames), isPhone(value) {
            let isWhole = value.first == 0x2B
            return PersonalValue(
                kind: .phone, field: field, confidence: isWhole ? .firm : .tentative)
        }
        if isDate(value), isNamed(field, birthNames) {
            return PersonalValue(kind: .birthDate, field: field)
        }
        if serialNames.contains(key), (8...20).contains(value.count),
            value.contains(where: \.isASCIIDigit),
            value.contains(where: \.isASCIILetter),
            value.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter })
        {
            return PersonalValue(kind: .serial, field: field, confidence: .tentative)
        }
        if healthNames.contains(key) {
            return PersonalValue(kind: .health, field: field, confidence: .tentative)
        }
        return nil
    }

    /// Whether the whole name, its last word or its last two are one of these.
    private static func isNamed(_ field: MessageField, _ names: Set<String>) -> Bool {
        let words = NameWords(field.key[...]).texts
        return names.contains(words.joined()) || words.last.map(names.contains) == true
            || names.contains(words.suffix(2).joined())
    }

    /// E.164: up to 15 digits, with what people put between.
    private static func isPhone(_ value: [UInt8]) -> Bool {
        let digits = value.count(where: \.isASCIIDigit)
        return (8...15).contains(digits)
            && value.allSatisfy {
                $0.isASCIIDigit || [0x20, 0x28, 0x29, 0x2B, 0x2D, 0x2E].contains($0)
            }
            && value.dropFirst().allSatisfy { $0 != 0x2B }
    }

    /// Year, month and day in any order, with the same sign between.
    private static func isDate(_ value: [UInt8]) -> Bool {
        let date = value.prefix { $0 != 0x54 }
        let parts = date.split { [0x2D, 0x2E, 0x2F].contains($0) }
        return parts.count == 3 && parts.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
            && parts.contains { $0.count == 4 && [0x31, 0x32].contains($0.first ?? 0) }
            && parts.count { $0.count <= 2 } == 2
    }

    private static let limit = 64
    private static let advertisingNames: Set<String> = [
        "idfa", "ifa", "adid", "advertisingid", "advertiserid", "advertisingidentifier", "aaid",
        "gaid", "rdid", "deviceifa", "googleadid", "googleadvertisingid", "appleidfa", "iosidfa",
        "gpsadid", "madid", "adtrackingid",
    ]
    private static let vendorNames: Set<String> = [
        "idfv", "ifv", "vendorid", "identifierforvendor", "iosvendorid", "vendoridentifier",
        "deviceidfv", "iosidfv",
    ]
    private static let hardwareWords: Set<String> = [
        "mac", "bssid", "wlan", "wifi", "hwaddr", "ethernet", "macaddress", "macaddr",
    ]
    private static let cardWords: Set<String> = [
        "card", "pan", "cc", "ccnumber", "cardnumber", "creditcard", "cardno", "ccnum",
    ]
    private static let expiryWords: Set<String> = [
        "exp", "expiry", "expiration", "expires", "cvv", "cvc", "cvn", "expmonth", "securitycode",
    ]
    private static let socialNames: Set<String> = [
        "ssn", "socialsecuritynumber", "socialsecurity",
    ]
    private static let phoneNames: Set<String> = [
        "phone", "phonenumber", "mobile", "mobilenumber", "msisdn", "cellphone", "telephone", "tel",
    ]
    private static let birthNames: Set<String> = [
        "dob", "birthdate", "birthday", "dateofbirth", "bday", "birthdaydate",
    ]
    private static let serialNames: Set<String> = [
        "deviceserial", "deviceserialnumber", "serialnumber", "hwserial", "hardwareserial",
    ]
    private static let healthNames: Set<String> = [
        "heartrate", "bloodpressure", "bloodglucose", "bloodtype", "diagnosis", "medication",
        "menstrualflow", "stepcount", "sleepanalysis",
    ]
}

/// What a value tells of a person or a device; the raw values are a contract.
package enum PersonalKind: String, Sendable, CaseIterable {
    case udid
    case advertisingID = "advertising-id"
    case vendorID = "vendor-id"
    case hardwareAddress = "hardware-address"
    case networkAddress = "network-address"
    case imei
    case imsi
    case iccid
    case androidID = "android-id"
    case serial
    case email
    case phone
    case birthDate = "birth-date"
    case socialSecurity = "social-security"
    case bankAccount = "bank-account"
    case card
    case health
    case preciseLocation = "precise-location"
    case coarseLocation = "coarse-location"

    /// What Apple counts it as.
    var dataType: DataType {
        switch self {
        case .udid, .advertisingID, .vendorID, .hardwareAddress, .imei, .imsi, .iccid, .androidID,
            .serial:
            .deviceID
        case .networkAddress, .coarseLocation: .coarseLocation
        case .preciseLocation: .preciseLocation
        case .email: .emailAddress
        case .phone: .phoneNumber
        case .birthDate: .otherUserContactInfo
        case .socialSecurity: .sensitiveInfo
        case .bankAccount: .otherFinancialInfo
        case .card: .paymentInfo
        case .health: .health
        }
    }

    /// Whether it stands for one device or one person over a long time.
    var isIdentifier: Bool {
        switch self {
        case .birthDate, .health, .coarseLocation, .preciseLocation, .networkAddress: false
        default: true
        }
    }
}

extension [PersonalValue] {
    /// What a rule makes of the values, each with what it is.
    func matches(_ judge: (PersonalValue) -> RuleMatch?) -> [RuleMatch] {
        compactMap { value in
            guard var result = judge(value) else { return nil }
            result.value = value.field.value
            result.notes.insert(.privacy(.tells(value.kind)), at: 0)
            return result
        }
    }
}
