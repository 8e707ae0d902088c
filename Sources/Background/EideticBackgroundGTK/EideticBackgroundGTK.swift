#if GTK
// `import EideticBackgroundGTK` is enough for an application with windows.
@_exported public import EideticBackground
@_exported public import EideticGTK
#endif
