internal import Base
internal import Contents

extension MultipartPart {
    /// What of it is compared: its content, the name of its file and its type. The boundary, which
    /// clients make up each time, counts for nothing.
    ///
    /// - Parameter number: names a part that has no name.
    func bodyFields(number: Int) -> [BodyField] {
        let name = name?.text ?? "[\(number)]"
        let isText = content.allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
        var fields = [BodyField(name, isText ? content.text : content.hex)]
        if let fileName { fields.append(BodyField("\(name).filename", fileName.text)) }
        if let type { fields.append(BodyField("\(name).content-type", type.text)) }
        return fields
    }
}
