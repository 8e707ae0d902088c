#if GTK
/// The scenes by name.
@MainActor
enum Scenes {
    typealias Scene = @MainActor (Stage) async throws -> Void

    static let all: [String: Scene] = [
        "animation": animation,
        "animation-scrolled": scrolledAnimation,
        "background": background,
        "buttons": buttons,
        "default-form": defaultForm,
        "deaths": deaths,
        "deaths-within": deathsWithin,
        "finish": finish,
        "flood": flood,
        "golden-dark": goldenDark,
        "golden-fit": goldenFit,
        "golden-light": goldenLight,
        "golden-states": goldenStates,
        "grid": grid,
        "hidden": hidden,
        "images": images,
        "indicators": indicators,
        "leaks": leaks,
        "main-actor": mainActor,
        "many-animations": manyAnimations,
        "marker": marker,
        "memory-hit": memoryHit,
        "minimized": minimized,
        "motion": motion,
        "not-sized": notSized,
        "options": options,
        "own-display": ownDisplay,
        "partial": partial,
        "preview": preview,
        "received-animation": receivedAnimation,
        "reuse": reuse,
        "dragging": dragging,
        "scale": scale,
        "scrolling": scrolling,
        "scrolling-shared": scrollingShared,
        "sizes": sizes,
        "small-requests": smallRequests,
        "snapshots": snapshots,
        "transition": transition,
        "very-wide": veryWide,
    ]
}
#endif
