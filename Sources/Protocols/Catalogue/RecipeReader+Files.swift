internal import Base
internal import TLS

extension RecipeReader {
    /// Reads a user's certificates, and the key of the first.
    static func readFiles(
        _ section: ProbeText.Section, into recipe: inout CertificateRecipe,
        _ files: ProbeReader.FileReading
    ) throws(ProbeViolation) {
        let chain = section.fields.first { $0.key == "chain-file" }
        let key = section.fields.first { $0.key == "key-file" }
        guard let chain else {
            guard let key else { return }
            throw ProbeViolation(key.line, "'key-file' is there without 'chain-file: …'")
        }
        let known: Set = ["chain-file", "key-file", "presented", "trusted"]
        if let other = section.fields.first(where: { !known.contains($0.key) }) {
            throw ProbeViolation(
                other.line,
                "'\(other.key)' beside 'chain-file', whose certificates are shown as they are")
        }
        recipe.origin = .file
        let certificates = try contents(of: chain, files)
        recipe.files = try parsed(certificates, nil, chain)
        guard let key else { return }
        recipe.files = try parsed(certificates, try contents(of: key, files), key)
    }

    private static func contents(
        of field: ProbeText.Field, _ files: ProbeReader.FileReading
    ) throws(ProbeViolation) -> [UInt8] {
        do {
            return try files(field.value)
        } catch {
            throw ProbeViolation(field.line, error.detail)
        }
    }

    private static func parsed(
        _ chain: [UInt8], _ key: [UInt8]?, _ field: ProbeText.Field
    ) throws(ProbeViolation) -> CertificateRecipe.CertificateFiles {
        do {
            return try CertificateRecipe.CertificateFiles(chain: chain, key: key)
        } catch {
            throw ProbeViolation(
                field.line, "\(field.key) '\(field.value)': \(error.detail)")
        }
    }
}
