package collect

import (
	"strings"
	"sync"
	"time"
)

// months are the beginnings of the months' names in the languages that feeds are
// written in, by which they are told apart. Longer ones are tried first.
var months = sync.OnceValue(func() map[string]time.Month {
	all := make(map[string]time.Month)
	for i, names := range [...]string{
		"jan jän ene gen ian oca led tam янв яну січ јан ιαν ينا ינו",
		"feb fév fev fêv şub úno hel vee лют фев феб φεβ فبر פבר lut",
		"mar mär mrt mae maa mrz már bře мар бер μαρ μάρ مار מרץ",
		"apr avr abr ápr nis dub huh апр кві απρ أبر אפר kwi",
		"may mai mag mei maj máj kvě tou мая май мај тра μαι μάι μαϊ μαΐ ماي מאי",
		"jun juin juun jún giu iun haz čer kes июн юни чер јун ιουν ιούν يوني יונ cze",
		"jul juil juul júl lug iul tem červenc července hei июл юли лип јул ιουλ ιούλ يولي יול lip",
		"aug aoû aou ago agu ağu srp elo авг сер αυγ αύγ أغس אוג sie",
		"sep set eyl sze zář syy сен сеп вер σεπ سبت ספט wrz",
		"oct okt out ott eki říj lok окт жов οκτ أكت אוק paź",
		"nov noi kas lis marras ноя ное нов лис νοε νοέ نوف נוב",
		"dec déc dez dic des ara pro jou дек дец гру δεκ ديس דצמ gru",
	} {
		for _, name := range strings.Fields(names) {
			all[name] = time.Month(i + 1)
		}
	}
	return all
})

// longestMonth is the length of the longest of those beginnings.
const longestMonth = 8

// monthOf returns the month of a name in any of the languages. Zero: it is none.
func monthOf(name string) time.Month {
	letters := []rune(strings.ToLower(name))
	for length := min(len(letters), longestMonth); length >= 3; length-- {
		if m := months()[string(letters[:length])]; m != 0 {
			return m
		}
	}
	return 0
}
