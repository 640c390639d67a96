internal import Base
internal import Contents

/// Finds locations: two fields that are named for it side by side, a pair in one, or GeoJSON's.
enum LocationFields {
    static func read(_ fields: [MessageField]) -> [PersonalValue] {
        var found: [PersonalValue] = []
        let candidates = fields.filter { mayHold($0.value) }.prefix(limit)
        for (index, field) in candidates.enumerated() {
            if let place = place(at: index, in: Array(candidates)) {
                found.append(
                    PersonalValue(
                        kind: place.isPrecise ? .preciseLocation : .coarseLocation, field: field))
            }
        }
        return found
    }

    /// The locations that are told, as numbers.
    static func places(_ fields: [MessageField]) -> [(place: Coordinates, field: MessageField)] {
        let candidates = Array(fields.filter { mayHold($0.value) }.prefix(limit))
        return candidates.indices.compactMap { index in
            place(at: index, in: candidates).map { ($0, candidates[index]) }
        }
    }

    /// The location that begins with this field.
    private static func place(at index: Int, in fields: [MessageField]) -> Coordinates? {
        let field = fields[index]
        let key = field.key.lettersAndDigits
        if pairNames.contains(key), let place = Coordinates(pair: field.value) { return place }
        if key == "coordinates", field.pointer.last == MessageField.anyElement {
            // GeoJSON puts the longitude first (RFC 7946 §3.1.1).
            guard index + 1 < fields.count, fields[index + 1].pointer == field.pointer,
                index == 0 || fields[index - 1].pointer != field.pointer
            else { return nil }
            return Coordinates(latitude: fields[index + 1].value, longitude: field.value)
        }
        guard isNamed(field, latitudeNames),
            let other = fields.first(where: { isBeside($0, field) && isNamed($0, longitudeNames) })
        else { return nil }
        return Coordinates(latitude: field.value, longitude: other.value)
    }

    private static func isNamed(_ field: MessageField, _ names: Set<String>) -> Bool {
        !names.isDisjoint(with: NameWords(field.key[...]).texts)
    }

    private static func mayHold(_ value: [UInt8]) -> Bool {
        guard (2...64).contains(value.count), let first = value.first else { return false }
        return (first.isASCIIDigit || first == 0x2D || first == 0x2B) && value.contains(0x2E)
    }

    private static func isBeside(_ one: MessageField, _ other: MessageField) -> Bool {
        one.container == other.container && one.pointer.count == other.pointer.count
            && one.pointer.dropLast().elementsEqual(other.pointer.dropLast())
    }

    private static let limit = 64
    private static let latitudeNames: Set<String> = ["latitude", "lat"]
    private static let longitudeNames: Set<String> = ["longitude", "lng", "lon", "long"]
    private static let pairNames: Set<String> = [
        "ll", "latlng", "latlon", "latlong", "location", "geo", "coords", "coordinates", "position",
        "userlocation", "gps",
    ]
}
