package queue

import "bot/poster"

// Article is one page of a site as its source describes it. It is declared where
// it is sent, since posters may not know of queues.
type Article = poster.Article
