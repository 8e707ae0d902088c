public import EideticCodecs
public import EideticCore
import EideticStore

extension ImageCache {
    /// Returns the placeholder of an image that is on disk; its bytes are neither read nor decoded.
    ///
    /// A placeholder is made when a pipeline stores an image that it has loaded and decoded, and when an application
    /// stores a whole image. It is kept when the image is revalidated. Images of which only the bytes were loaded or
    /// stored, without decoding, have none.
    ///
    /// - Parameter key: The image's key, in any size.
    /// - Returns: `nil` if the disk does not have the image, or has it without a placeholder.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading.
    nonisolated(nonsending) public func placeholder(for key: Key) async throws(EideticError) -> ImagePlaceholder? {
        guard let original = try await disk?.lookup.loadOriginal(for: resolved(key).text) else { return nil }
        return original.metadata.response.imagePlaceholder
    }
}
