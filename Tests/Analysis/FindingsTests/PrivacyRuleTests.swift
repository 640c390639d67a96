import Base
import Testing
import Traffic

@testable import Findings

/// What tells a person or a device, as one exchange shows it.
@Suite struct PrivacyRuleTests {
    /// The domain that is declared as the first party.
    private static let own = "api.own.test"

    static let rows: [RuleRow] = [deviceRows, emailRows, placeRows, cardRows, otherRows]
        .flatMap(\.self)

    @Test(arguments: rows)
    func judges(_ row: RuleRow) {
        let found = FindingsLaboratory.run(row.traffic, firstParties: [Self.own]).findings
            .filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        #expect(found.map(\.confidence).first == row.confidence)
    }

    /// Without a declaration, a guess never fails a run.
    @Test func guessesWithCare() {
        let card = #"{"card":{"number":"4716186978544330"}}"#
        let traffic = [Sample.login("tr0ub4dor&3", at: "one.test")] + [to("ads.two.test", card)]
        let found = FindingsLaboratory.run(traffic).findings.filter { $0.rule == .personalCard }
        #expect(found.map(\.severity) == [.medium])
        #expect(found.first?.notes.contains(.probablyThirdParty) == true)
    }
}

private func to(_ host: String, _ json: String) -> Sample {
    .post(json, "application/json", over: .https, to: host)
}

private func own(_ json: String) -> Sample { to("api.own.test", json) }

private let deviceRows: [RuleRow] = [
    .hit("UDID", .deviceUDID, .high, .certain, own(#"{"d":"00008030-001A2D3E4F50802E"}"#)),
    .hit(
        "UDID in a header", .deviceUDID, .high, .certain,
        Sample(scheme: .https, headers: ["X-Device: 00008101-000A3D3E4F50802E"])),
    .hit(
        "UDID in a header's Base64", .deviceUDID, .high, .certain,
        Sample(
            scheme: .https,
            headers: ["X-Info: " + base64(#"{"id":"00008101-000A3D3E4F50802E"}"#)])),
    .hit(
        "40 digits by name", .deviceUDID, .high, .firm,
        own(#"{"udid":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}"#)),
    .hit(
        "40 digits of a device", .deviceUDID, .high, .tentative,
        own(#"{"deviceId":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}"#)),
    .silent("SHA-1", .deviceUDID, own(#"{"sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}"#)),
    .silent("UUID", .deviceUDID, own(#"{"udid":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#)),
    .silent("other start", .deviceUDID, own(#"{"d":"00018030-001A2D3E4F50802E"}"#)),
    .hit(
        "IDFA", .advertisingID, .medium, .firm,
        .get("/?idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC", over: .https)),
    .hit(
        "IDFA against the user's will", .advertisingID, .high, .firm,
        .get("/?idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC&lmt=1", over: .https)),
    .hit(
        "OpenRTB", .advertisingID, .high, .firm,
        own(#"{"device":{"ifa":"6d92078a-8246-4ba4-ae5b-76104861e7dc","lmt":1}}"#)),
    .hit(
        "zeros", .advertisingID, .info, .firm,
        .get("/?idfa=00000000-0000-0000-0000-000000000000&lmt=1", over: .https)),
    .silent(
        "no version 4", .advertisingID,
        .get("/?idfa=6D92078A-8246-1BA4-AE5B-76104861E7DC", over: .https)),
    .silent(
        "request's number", .advertisingID,
        .get("/?request_id=6D92078A-8246-4BA4-AE5B-76104861E7DC", over: .https)),
    .hit("IDFV", .vendorID, .low, .firm, own(#"{"idfv":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#)),
    .hit(
        "IDFV to another", .vendorID, .medium, .firm,
        to("ads.other.test", #"{"idfv":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#)),
    .silent(
        "request's number", .vendorID, own(#"{"id":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#)),
    .hit("MAC", .hardwareAddress, .high, .firm, own(#"{"x":"f0:18:98:0a:1b:2c"}"#)),
    .hit("MAC by name", .hardwareAddress, .high, .firm, own(#"{"mac":"f018980a1b2c"}"#)),
    .hit("access point", .hardwareAddress, .medium, .firm, own(#"{"bssid":"f0-18-98-0a-1b-2c"}"#)),
    .hit("made up", .hardwareAddress, .info, .firm, own(#"{"mac":"02:00:00:00:00:00"}"#)),
    .silent("broadcast", .hardwareAddress, own(#"{"mac":"ff:ff:ff:ff:ff:ff"}"#)),
    .silent("zeros", .hardwareAddress, own(#"{"mac":"00:00:00:00:00:00"}"#)),
    .silent("twelve digits", .hardwareAddress, own(#"{"x":"f018980a1b2c"}"#)),
    .silent("fingerprint", .hardwareAddress, own(#"{"x":"f0:18:98:0a:1b:2c:3d"}"#)),
    .silent("times", .hardwareAddress, own(#"{"x":"10:20:30:40:50:60"}"#)),
    .hit("IMEI", .deviceNumber, .high, .firm, .get("/?imei=490154203237518", over: .https)),
    .silent("order", .deviceNumber, .get("/?order=490154203237518", over: .https)),
    .silent("wrong check digit", .deviceNumber, .get("/?imei=490154203237519", over: .https)),
    .hit("IMSI", .deviceNumber, .high, .firm, own(#"{"imsi":"262011234567890"}"#)),
    .silent("no country", .deviceNumber, own(#"{"imsi":"962011234567890"}"#)),
    .hit("ICCID", .deviceNumber, .high, .firm, own(#"{"iccid":"8944500102198304826"}"#)),
    .hit("Android ID", .deviceNumber, .high, .firm, own(#"{"android_id":"9774d56d682e549c"}"#)),
    .hit(
        "serial number", .deviceNumber, .high, .tentative, own(#"{"serialNumber":"C02XG0FDH7JY"}"#)),
    .silent("certificate", .deviceNumber, own(#"{"certSerialNumber":"C02XG0FDH7JY"}"#)),
]

private let emailRows: [RuleRow] = [
    .hit("first party", .personalEmail, .low, .firm, own(#"{"to":"a.b@corp.tld"}"#)),
    .hit(
        "third party", .personalEmail, .medium, .firm, to("mailer.net", #"{"to":"a.b@corp.tld"}"#)),
    .hit(
        "cleartext", .personalEmail, .high, .firm,
        .post(#"{"to":"a.b@corp.tld"}"#, "", to: "api.own.test")),
    .hit(
        "query", .personalEmail, .medium, .firm,
        .get("/?u=a.b%2Bc%40mail.corp.tld", over: .https).at("x.net")),
    .hit(
        "inside of Base64", .personalEmail, .medium, .firm,
        .get("/?d=" + base64(#"{"user":{"e":"a.b@corp.tld"}}"#), over: .https).at("x.net")),
    .silent("image", .personalEmail, own(#"{"i":"icon@2x.png"}"#)),
    .silent("package", .personalEmail, own(#"{"p":"@scope/name","q":"name@1.2.3"}"#)),
    .silent("example", .personalEmail, own(#"{"to":"a.b@example.com","cc":"x@shop.example"}"#)),
    .silent("in a text", .personalEmail, own(#"{"t":"write to a.b@corp.tld today"}"#)),
    .silent("in a response", .personalEmail, .answer(#"{"to":"a.b@corp.tld"}"#)),
]

private let placeRows: [RuleRow] = [
    .hit(
        "third party", .personalLocation, .medium, .firm,
        .get("/?lat=37.7749&lon=-122.4194", over: .https).at("x.net")),
    .hit(
        "tracker", .personalLocation, .high, .firm,
        .get("/?lon=-122.4194&lat=37.7749", over: .https).at("t.appsflyer.com")),
    .hit(
        "first party", .personalLocation, .low, .firm,
        own(#"{"pos":{"latitude":37.7749,"longitude":-122.4194}}"#)),
    .hit(
        "GeoJSON", .personalLocation, .medium, .firm,
        to("x.net", #"{"type":"Point","coordinates":[-122.4194,37.7749]}"#)),
    .hit(
        "pair", .personalLocation, .medium, .firm,
        .get("/?ll=37.7749,-122.4194", over: .https).at("x.net")),
    .hit(
        "coarse", .personalLocation, .info, .firm,
        .get("/?lat=37.8&lon=-122.4", over: .https).at("x.net")),
    .hit(
        "piece of a map", .personalLocation, .low, .firm,
        .get("/tile?lat=37.7749&lon=-122.4194", over: .https).at("x.net")),
    .silent("origin", .personalLocation, .get("/?lat=0.000&lon=0.000", over: .https)),
    .silent("out of range", .personalLocation, .get("/?lat=97.7749&lon=-122.4194", over: .https)),
    .silent("one alone", .personalLocation, .get("/?lat=37.7749", over: .https)),
    .silent(
        "other objects", .personalLocation, own(#"{"a":{"lat":37.7749},"b":{"lon":-122.4194}}"#)),
    .silent("other words", .personalLocation, own(#"{"flat":37.7749,"salon":-122.4194}"#)),
    .silent(
        "told by the origin", .personalLocation, .answer(#"{"lat":37.7749,"lon":-122.4194}"#)),
]

private let cardRows: [RuleRow] = [
    .hit(
        "third party", .personalCard, .high, .firm,
        to("x.net", #"{"card":{"number":"4716 1869 7854 4330","cvv":"123"}}"#)),
    .hit(
        "date beside it", .personalCard, .high, .firm,
        to("x.net", #"{"number":"4716186978544330","exp":"12/30"}"#)),
    .hit(
        "processor", .personalCard, .low, .firm,
        .post("card[number]=4716186978544330", "", over: .https, to: "api.stripe.com")),
    .hit(
        "cleartext", .personalCard, .high, .firm,
        .post("cardnumber=4716186978544330", "", to: "api.own.test")),
    .hit("first party", .personalCard, .low, .firm, own(#"{"pan":"4716186978544330"}"#)),
    .hit(
        "for tests", .personalCard, .info, .firm,
        to("x.net", #"{"number":"4111111111111111","exp":"12/30"}"#)),
    .silent("no context", .personalCard, to("x.net", #"{"id":"4716186978544330"}"#)),
    .silent("number alone", .personalCard, to("x.net", #"{"number":"4716186978544330"}"#)),
    .silent("wrong check digit", .personalCard, to("x.net", #"{"card":"4716186978544331"}"#)),
    .silent("no brand", .personalCard, to("x.net", #"{"card":"9716186978544335"}"#)),
    .silent("13 digits", .personalCard, to("x.net", #"{"card":"4222222222222"}"#)),
]

private let otherRows: [RuleRow] = [
    .hit(
        "IBAN", .personalOther, .medium, .firm, to("x.net", #"{"a":"DE89 3704 0044 0532 0130 00"}"#)
    ),
    .silent("wrong IBAN", .personalOther, to("x.net", #"{"a":"DE89370400440532013001"}"#)),
    .hit(
        "SSN", .personalOther, .medium, .firm, .get("/?ssn=351-25-9735", over: .https).at("x.net")),
    .silent("tracking", .personalOther, .get("/?tracking=351-25-9735", over: .https).at("x.net")),
    .silent("never given out", .personalOther, .get("/?ssn=666-25-9735", over: .https).at("x.net")),
    .hit(
        "phone", .personalOther, .medium, .firm, to("x.net", #"{"phoneNumber":"+44 20 7946 0958"}"#)
    ),
    .hit(
        "phone without +", .personalOther, .medium, .tentative,
        to("x.net", #"{"phone":"02079460958"}"#)),
    .silent("model of a phone", .personalOther, to("x.net", #"{"phone":"iPhone 15"}"#)),
    .silent("hotel", .personalOther, to("x.net", #"{"hotel":"02079460958"}"#)),
    .hit("birth", .personalOther, .medium, .firm, to("x.net", #"{"date_of_birth":"1984-03-09"}"#)),
    .hit("birth, day first", .personalOther, .medium, .firm, to("x.net", #"{"dob":"09/03/1984"}"#)),
    .silent("date", .personalOther, to("x.net", #"{"date":"1984-03-09"}"#)),
    .hit("first party", .personalOther, .low, .firm, own(#"{"dob":"1984-03-09"}"#)),
    .hit("health", .personalOther, .medium, .tentative, to("x.net", #"{"heartRate":"061.00"}"#)),
]
