internal import Base

/// ID-UDID, ID-IDFA, ID-IDFV, ID-MAC and ID-IMEI: what tells one device from all others.
enum DeviceIdentifierDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        examine(view.personalValues, among: view.requestFields)
    }

    /// - Parameter fields: the others of the same message.
    static func examine(_ values: [PersonalValue], among fields: [MessageField]) -> [RuleMatch] {
        values.matches { judge($0, among: fields) }
    }

    private static func judge(_ value: PersonalValue, among fields: [MessageField]) -> RuleMatch? {
        let field = value.field
        let severity: Severity
        switch value.kind {
        case .udid: return RuleMatch(.deviceUDID, .high, value.confidence, field: field)
        case .advertisingID:
            let isLimited = !value.isHarmless && limitsTracking(fields)
            severity = value.isHarmless ? .info : isLimited ? .high : .medium
            var result = RuleMatch(.advertisingID, severity, .firm, field: field)
            if isLimited { result.notes.append(.privacy(.trackingIsLimited)) }
            return result
        case .vendorID:
            var result = RuleMatch(.vendorID, .low, .firm, field: field)
            result.thirdPartySeverity = .medium
            return result
        case .hardwareAddress:
            severity = value.isHarmless ? .info : .high
            return RuleMatch(.hardwareAddress, severity, .firm, field: field)
        case .networkAddress:
            return RuleMatch(.hardwareAddress, .medium, .firm, field: field)
        case .imei, .imsi, .iccid, .androidID, .serial:
            return RuleMatch(.deviceNumber, .high, value.confidence, field: field)
        default: return nil
        }
    }

    /// Whether the request itself says that the user does not want to be followed.
    private static func limitsTracking(_ fields: [MessageField]) -> Bool {
        fields.contains { field in
            guard field.value.count <= 5, let words = limits[field.key.lettersAndDigits] else {
                return false
            }
            return words.contains(field.value.lowercasedBytes.text)
        }
    }

    /// What `lmt` and `dnt` of OpenRTB and `atts` of its extension for iOS say, and what SDKs do.
    private static let limits: [String: Set<String>] = [
        "lmt": ["1", "true"], "dnt": ["1", "true"], "limitadtracking": ["1", "true"],
        "advertisertrackingenabled": ["0", "false"], "atts": ["0", "1", "2"],
        "attstatus": ["0", "1", "2"], "islat": ["1", "true"],
        "isadvertisingtrackingenabled": ["0", "false"],
    ]
}

extension RuleText {
    static let deviceUDID = RuleText(
        title: "UDID of a device",
        reason: "the number never changes, so that everything the device does can be put together",
        advice: "use an identifier that the program makes itself, one for each purpose",
        decision:
            "A value has the form of an Apple device's identifier since 2018, or is 40 hexadecimal"
            + " digits in a field that is named for it.",
        exceptions: "40 digits by another name are most likely a SHA-1; as a device ID, tentative.",
        worst: .high,
        weaknesses: [359])

    static let advertisingID = RuleText(
        title: "Advertising identifier",
        reason: "the same number in all programs of a device lets advertisers follow its user",
        advice: "ask for permission first, and send nothing where the user said no",
        decision:
            "A UUID of version 4 in a field that is named for the advertising identifier; high if"
            + " the same request says that the user limits tracking (lmt, dnt, atts).",
        exceptions: "The identifier of zeros, which stands for none, is info.",
        worst: .high,
        weaknesses: [359])

    static let vendorID = RuleText(
        title: "Vendor's identifier of a device",
        reason: "all programs of one maker on a device share it",
        advice: "send it to services of the maker alone, or make an identifier for the purpose",
        decision: "A UUID in a field that is named for the identifier of the vendor.",
        exceptions: "At a first party it is low.",
        worst: .medium,
        weaknesses: [359])

    static let hardwareAddress = RuleText(
        title: "Hardware address of a device or a network",
        reason: "the address never changes; that of an access point tells where the device is",
        advice: "do not read or send hardware addresses",
        decision:
            "Six octets in hexadecimal pairs with ':' or '-' between, or twelve digits in a field"
            + " that is named for them.",
        exceptions:
            "Broadcast, multicast and zero; an address with the local bit, which systems make up,"
            + " is info. One of an access point is medium.",
        worst: .high,
        weaknesses: [359])

    static let deviceNumber = RuleText(
        title: "IMEI, IMSI, ICCID, Android ID or serial number",
        reason: "the number belongs to one device or one subscriber for as long as it lives",
        advice: "use an identifier that the program makes itself, one for each purpose",
        decision:
            "A field is named for the number, and its value has the number's length, prefix and"
            + " check digit.",
        exceptions: "Serial numbers have no form of their own, so they are tentative.",
        worst: .high,
        weaknesses: [359])
}
