import EideticCodecs
import EideticCore
import EideticFetch
import EideticRedis

/// The traits and the libraries of this program.
enum BuildDescription {
    /// The lines of `--version`.
    static var details: [(name: String, value: String)] {
        let linked = LibraryVersion.fetch + LibraryVersion.codecs + LibraryVersion.core + LibraryVersion.redis
        return [
            ("traits", traits.isEmpty ? "none" : traits.joined(separator: ", ")),
            ("libraries", text(for: linked)),
            ("loaded when needed", text(for: LibraryVersion.optionalCodecs)),
        ].filter { !$0.value.isEmpty }
    }

    private static var traits: [String] {
        var traits: [String] = []
        #if AVIF
        traits.append("AVIF")
        #endif
        #if HEIF
        traits.append("HEIF")
        #endif
        #if JPEGXL
        traits.append("JPEGXL")
        #endif
        #if SVG
        traits.append("SVG")
        #endif
        #if Redis
        traits.append("Redis")
        #endif
        #if GTK
        traits.append("GTK")
        #endif
        return traits
    }

    private static func text(for libraries: [LibraryVersion]) -> String {
        libraries.map { "\($0.name) \($0.version ?? "(not installed)")" }.joined(separator: ", ")
    }
}
